/** The wait of one request in the admission queue: dataplane/line.ts knows whose turn it is, this file sleeps. */
import { endTry } from "../dataplane/in_flight";
import { endWait, leave, poll, POLL_MS, roomCame, type Waiter, WaiterState } from "../dataplane/line";
import type { RequestRecord } from "../dataplane/requests";
import type { Upstream } from "../dataplane/upstream";
import { process, type Worker } from "../dataplane/worker";
import { endAborted, onAbort } from "../nginx/admission";
import { nowMs } from "../nginx/clock";
import { awaitPost, drain, newSemaphore, post, type Semaphore } from "../nginx/semaphore";
import { flushWhileLeaving } from "./leaving";

/** How a wait ended. */
export const enum Turn {
  /** The request has a place. */
  Come = 0,
  TimedOut = 1,
  /** The client has gone. */
  Aborted = 2,
}

/** Wakes a waiter's thread; does nothing when it has none yet. Any phase. */
export function wake(waiter: Waiter): void {
  const semaphore = waiter.semaphore;
  if (semaphore !== undefined) post(semaphore as Semaphore);
}

/**
 * The client has gone. Runs in a thread of its own, while the waiter's sleeps or in the same turn of the event loop
 * in which it is woken for another reason.
 * @param use of the waiter when it was this request's
 */
function clientGone(waiter: Waiter, use: number): void {
  const worker = process.worker;
  if (worker === undefined || waiter.use !== use) {
    // It waits no more: what nginx does without a callback.
    endAborted();
    return;
  }
  waiter.aborted = true;
  leave(worker.hall, waiter, nowMs());
  wake(waiter);
}

function watchClient(waiter: Waiter): void {
  const use = waiter.use;
  onAbort(() => {
    clientGone(waiter, use);
  });
}

/** Sleeps until the waiter is handed a place, or leaves. */
function sleep(worker: Worker, waiter: Waiter): void {
  const hall = worker.hall;
  const semaphore = waiter.semaphore as Semaphore;
  while (waiter.state === WaiterState.Waiting) {
    const now_ms = nowMs();
    const left_ms = waiter.deadline_ms - now_ms;
    if (left_ms <= 0) {
      leave(hall, waiter, now_ms);
      return;
    }
    hall.poller ??= waiter;
    const polls = hall.poller === waiter;
    awaitPost(semaphore, polls ? math.min(POLL_MS, left_ms) : left_ms);
    if (polls && waiter.state === WaiterState.Waiting) {
      if (worker.exiting) flushWhileLeaving(worker, nowMs());
      poll(hall, nowMs());
    }
  }
}

/**
 * Waits for the turn of a request that has a waiter. Access phase.
 * @throws when nginx has no memory for a semaphore, or our code fails; the request has left the queue then
 */
export function awaitTurn(record: RequestRecord): Turn {
  const worker = process.worker as Worker;
  const hall = worker.hall;
  const waiter = record.waiter as Waiter;
  waiter.semaphore ??= newSemaphore();
  if (waiter.semaphore === undefined) {
    leave(hall, waiter, nowMs());
    endWait(hall, waiter, false);
    error("nginx has no memory for a semaphore", 0);
  }
  watchClient(waiter);
  const [ok, err] = pcall(sleep, worker, waiter);
  const granted = waiter.state === WaiterState.Granted;
  const aborted = waiter.aborted;
  leave(hall, waiter, nowMs());
  endWait(hall, waiter, ok && drain(waiter.semaphore as Semaphore));
  if (!ok) error(err, 0);
  if (!aborted) return granted ? Turn.Come : Turn.TimedOut;
  if (granted) {
    endTry(record);
    roomCame(hall, record.upstream as Upstream, nowMs());
  }
  return Turn.Aborted;
}
