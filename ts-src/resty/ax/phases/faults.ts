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
