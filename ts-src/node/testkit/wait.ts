/** How often conditions are looked at, ms: cheap, and far below what a person or a test notices. */
const POLL_INTERVAL_MS = 20;

/** Pauses. For use inside polling loops and paced load; never as synchronisation in a test. */
export function pause(delay_ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, delay_ms));
}

/**
 * Polls until `probe` returns something other than undefined or false.
 * An error thrown by `probe` ends the wait at once.
 *
 * @param what what is waited for, in words, for the error message
 * @param probe looked at every 20 ms
 * @param timeout_ms longest wait; generous, because a busy machine is not a failure
 * @returns what `probe` returned
 * @throws Error naming `what` and the time waited
 */
export async function waitFor<T>(
  what: string,
  probe: () => T | undefined | false | Promise<T | undefined | false>,
  timeout_ms = 15_000,
): Promise<T> {
  const end = performance.now() + timeout_ms;
  for (;;) {
    const value = await probe();
    if (value !== undefined && value !== false) return value;
    if (performance.now() > end) throw new Error(`gave up after ${timeout_ms} ms waiting for ${what}`);
    await pause(POLL_INTERVAL_MS);
  }
}
