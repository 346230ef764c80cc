import { process } from "../dataplane/worker";
import { nowMs } from "../nginx/clock";
import { fault } from "./faults";

function check(name: string): void {
  const worker = process.worker;
  if (worker !== undefined && worker.by_name[name] === undefined) {
    fault("unknown_upstream", `access("${name}"): no such upstream in the configuration of init()`, nowMs());
  }
}

/**
 * Admits a request to an upstream before nginx connects to it. It lets every request through and
 * reports an upstream name that is not configured; limits and hash keys hook in here.
 *
 * access_by_lua phase; optional.
 * @param name an upstream of the configuration
 */
export function access(name: string): void {
  const [ok, err] = pcall(check, name);
  if (!ok) fault("access_phase", tostring(err), nowMs());
}
