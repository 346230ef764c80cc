import type { Store } from "../core/store";
import type { FaultCode } from "./codes";

/** One line a minute per code and worker: a fault at every request must not fill the disk. */
const LOG_EVERY_MS = 60000;

interface Fault {
  /** Since the worker's start. */
  count: number;
  /** Not yet added to the shared count. */
  unsent: number;
  message: string;
  logged_at_ms: number;
  at_ms: number;
}

/**
 * Faults of this worker. Written by any phase; sent to the shared dict by the flush. Lives as long as
 * the worker; the shared counts live as long as the shared dict.
 */
export interface Faults {
  by_code: Record<string, Fault | undefined>;
  log: (this: void, message: string) => void;
}

/** What the API shows of one kind of fault. */
export interface FaultReport {
  count: number;
  last_message: string;
  /** Monotonic ms. */
  last_at_ms: number;
}

export function newFaults(log: (this: void, message: string) => void): Faults {
  return { by_code: {}, log };
}

/** Counts a fault, and logs it unless one of its kind was logged within the last minute. */
export function noteFault(faults: Faults, code: FaultCode, message: string, now_ms: number): void {
  let fault = faults.by_code[code];
  if (fault === undefined) {
    fault = { count: 0, unsent: 0, message: "", logged_at_ms: -LOG_EVERY_MS, at_ms: 0 };
    faults.by_code[code] = fault;
  }
  fault.count++;
  fault.unsent++;
  fault.message = message;
  fault.at_ms = now_ms;
  if (now_ms - fault.logged_at_ms >= LOG_EVERY_MS) {
    fault.logged_at_ms = now_ms;
    faults.log(`${code}: ${message} (${fault.count} so far in this worker; logged once a minute)`);
  }
}

/** Adds what is new to the shared counts. Flush. */
export function sendFaults(
  faults: Faults,
  store: Store,
  encode: (this: void, value: unknown) => string | undefined,
): void {
  for (const [code, entry] of pairs(faults.by_code)) {
    const fault = entry;
    if (fault.unsent > 0 && store.incr(`errors:${code}`, fault.unsent) !== undefined) {
      fault.unsent = 0;
      const text = encode({ count: 0, last_message: fault.message.slice(0, 1000), last_at_ms: fault.at_ms });
      if (text !== undefined) store.set(`error:${code}`, text);
    }
  }
}

/** The shared counts, with this worker's own unsent ones added. API. */
export function readFaults(
  faults: Faults,
  store: Store,
  codes: readonly string[],
  decode: (this: void, text: string) => unknown,
): Record<string, FaultReport> {
  const reports: Record<string, FaultReport> = {};
  for (const code of codes) {
    const shared = store.get(`errors:${code}`);
    const own = faults.by_code[code];
    const count = (typeof shared === "number" ? shared : 0) + (own === undefined ? 0 : own.unsent);
    if (count > 0) {
      const text = store.get(`error:${code}`);
      const last = typeof text === "string" ? (decode(text) as FaultReport | undefined) : undefined;
      const report: FaultReport = { count, last_message: "", last_at_ms: 0 };
      if (last !== undefined) {
        report.last_message = last.last_message;
        report.last_at_ms = last.last_at_ms;
      }
      if (own !== undefined && own.at_ms > report.last_at_ms) {
        report.last_message = own.message;
        report.last_at_ms = own.at_ms;
      }
      reports[code] = report;
    }
  }
  return reports;
}
