import * as semaphore from "ngx.semaphore";
import type { NgxSemaphore } from "ngx.semaphore";

/** What one request waits on. Handed out by newSemaphore; opaque outside of this file. */
export type Semaphore = NgxSemaphore;

/** @returns a semaphore with nothing posted; undefined when nginx has no memory for it */
export function newSemaphore(): Semaphore | undefined {
  const [made] = semaphore.new(0);
  return made;
}

/**
 * Waits for a post, or until the time is over; which of the two it was, the caller knows from its own state: both
 * can happen in one turn of the event loop. Access phase.
 * @param timeout_ms 0 or more
 */
export function awaitPost(made: Semaphore, timeout_ms: number): void {
  made.wait(timeout_ms / 1000);
}

/** Wakes the request that waits. Any phase, log and balancer included. */
export function post(made: Semaphore): void {
  made.post(1);
}

/**
 * Takes back posts that nobody waited for. Access phase; does not wait.
 * @returns whether the semaphore is as new, and may be used by another request
 */
export function drain(made: Semaphore): boolean {
  for (let posts = made.count(); posts > 0; posts--) made.wait(0);
  return made.count() === 0;
}
