import * as ffi from "ffi";
import * as time from "resty.core.time";

/** clock_gettime(2), under a name of our own so that another library's declaration cannot clash. */
const DECLARATIONS = `
typedef struct { long sec; long nsec; } ax_timespec;
int ax_clock_gettime(int, ax_timespec *) __asm__("clock_gettime");
`;

interface Timespec {
  sec: unknown;
  nsec: unknown;
}

interface ClockLibrary {
  ax_clock_gettime(this: void, clock: number, time: Timespec): number;
}

ffi.cdef(DECLARATIONS);

// Looked up once: for a trace, a local variable is a constant.
const monotonicMs = time.monotonic_msec;

const CLOCK_MONOTONIC = 1;

const timespec = ffi.new("ax_timespec") as Timespec;

/**
 * Monotonic time of this machine as nginx cached it at the start of the event loop's turn, ms. The
 * same clock in every process; untouched by clock steps. Any phase.
 */
export function nowMs(): number {
  const now_ms = monotonicMs();
  return now_ms;
}

/** Unix time, seconds with ms resolution: for people to read, never to decide by. Any phase. */
export function wallS(): number {
  const now_s = ngx.now();
  return now_s;
}

/**
 * Monotonic time as it is now, not as nginx has cached it, ms with fractions: for how long something has been at work.
 * Any phase.
 */
export function runningMs(): number {
  (ffi.C as ClockLibrary).ax_clock_gettime(CLOCK_MONOTONIC, timespec);
  const now_ms = (tonumber(timespec.sec) as number) * 1e3 + (tonumber(timespec.nsec) as number) / 1e6;
  return now_ms;
}
