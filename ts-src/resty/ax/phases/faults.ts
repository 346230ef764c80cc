import type { FaultReporter } from "../dataplane/pick";
import { process } from "../dataplane/worker";
import { nowMs } from "../nginx/clock";
import { logError } from "../nginx/log";
import type { FaultCode } from "../observe/codes";
import { newFaults, noteFault } from "../observe/faults";

/** Counts and logs a fault of ours, in any phase, also before init_worker() has run. */
export function fault(code: FaultCode, message: string, now_ms: number): void {
  process.faults ??= newFaults(logError);
  noteFault(process.faults, code, message, now_ms);
}

/** What picks report their faults to. */
export const report: FaultReporter = (kind, message) => {
  fault(kind, message, nowMs());
};

/**
 * A call names an upstream that init() does not know.
 * @param name as the user's Lua handed it over: nil, where it was to come from a variable that is empty
 */
export function unknownUpstream(call: string, name: string | undefined, now_ms: number): void {
  const text =
    name === undefined
      ? `${call}(nil): the upstream's name is missing`
      : `${call}("${tostring(name)}"): no upstream of that name in the configuration of init()`;
  fault("unknown_upstream", text, now_ms);
}
