/**
 * Calls back for as long as the worker lives. init_worker phase.
 * @param callback gets `true` once, when the worker starts to shut down
 * @returns an error text when nginx refuses the timer
 */
export function every(interval_ms: number, callback: (this: void, exiting: boolean) => void): string | undefined {
  const [, err] = ngx.timer.every(interval_ms / 1000, callback);
  return err;
}

/** Lets the worker serve what waits, then goes on. Timer phase. */
export function pause(): void {
  ngx.sleep(0);
}
