import * as time from "resty.core.time";

/**
 * Monotonic time of this machine as nginx cached it at the start of the event loop's turn, ms. The
 * same clock in every process; untouched by clock steps. Any phase.
 */
export function nowMs(): number {
  const now_ms = time.monotonic_msec();
  return now_ms;
}
