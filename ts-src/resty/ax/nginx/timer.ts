/**
 * Calls back for as long as the worker lives. init_worker phase.
 * @param callback gets `true` once, when the worker starts to shut down
 * @returns an error text when nginx refuses the timer
 */
export function every(interval_ms: number, callback: (this: void, exiting: boolean) => void): string | undefined {
  const [, err] = ngx.timer.every(interval_ms / 1000, callback);
  return err;
}

/**
 * 0 would do, but an nginx without OpenResty's patches (Debian's) logs a warning at each such call. 1 ms is the least
 * that its timers tell from 0.
 */
const PAUSE_S = 0.001;

/** Lets the worker serve what waits, then goes on. Timer phase. */
export function pause(): void {
  ngx.sleep(PAUSE_S);
}
