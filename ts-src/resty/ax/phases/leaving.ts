import { publishDoors } from "../dataplane/door_exchange";
import { publish } from "../dataplane/exchange";
import { readSnapshots } from "../dataplane/snapshots";
import { readOthers } from "../dataplane/worker_record";
import { releaseHolds } from "../dataplane/holds";
import { refresh } from "../dataplane/refresh";
import { readDrains } from "../dataplane/drain";
import { readLimits } from "../dataplane/limits";
import type { Worker } from "../dataplane/worker";

/**
 * Requests left from which on each end is published at once: nothing may come after it that would, for hours where
 * streams are open.
 */
const LAST_REQUESTS = 64;

function send(worker: Worker, now_ms: number): void {
  worker.left_at_ms = now_ms;
  publish(worker.exchange, worker.upstreams, true, now_ms);
  publishDoors(worker.exchange, worker.upstreams, now_ms);
  for (const upstream of worker.upstreams) releaseHolds(upstream, now_ms);
}

/**
 * A request of a worker that shuts down has ended: tells the others what is left. As long as many are, no more often
 * than a flush: with a thousand nodes it takes half a millisecond. Log phase.
 */
export function publishWhileLeaving(worker: Worker, now_ms: number): void {
  const is_due = now_ms - worker.left_at_ms >= worker.config.flush_interval_ms;
  if (is_due || worker.requests.live < LAST_REQUESTS) send(worker, now_ms);
}

/**
 * The flush of a worker that shuts down: no timer runs there any more, but its waiters have to learn what the
 * other workers have in flight, or would wait for room that has long been there. Does nothing more often than a
 * flush. Access phase, by the waiter that polls.
 */
export function flushWhileLeaving(worker: Worker, now_ms: number): void {
  if (now_ms - worker.left_at_ms < worker.config.flush_interval_ms) return;
  send(worker, now_ms);
  readOthers(worker.exchange, worker.upstreams, now_ms);
  readSnapshots(worker.exchange, worker.upstreams, now_ms);
  readLimits(worker.store, worker.upstreams, worker.exchange.decode);
  readDrains(worker.store, worker.upstreams, worker.exchange.decode, now_ms);
  for (const upstream of worker.upstreams) refresh(upstream, now_ms);
}
