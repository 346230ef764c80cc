import * as time from "resty.core.time";

/**
 * Monotonic time of this machine as nginx cached it at the start of the event loop's turn, ms. The
 * same clock in every process; untouched by clock steps. Any phase.
 */
export function nowMs(): number {
  const now_ms = time.monotonic_msec();
  return now_ms;
}

/** Unix time, seconds with ms resolution: for people to read, never to decide by. Any phase. */
export function wallS(): number {
  const now_s = ngx.now();
  return now_s;
}
