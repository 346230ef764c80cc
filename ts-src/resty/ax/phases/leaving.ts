import { publishDoors } from "../dataplane/door_exchange";
import { publish, readOthers, readSnapshots } from "../dataplane/exchange";
import { readDrains } from "../dataplane/drain";
import { readLimits } from "../dataplane/limits";
import type { Worker } from "../dataplane/worker";

/**
 * The flush of a worker that shuts down: no timer runs there any more, but its waiters have to learn what the
 * other workers have in flight, or would wait for room that has long been there. Does nothing more often than a
 * flush. Access phase, by the waiter that polls.
 */
export function flushWhileLeaving(worker: Worker, now_ms: number): void {
  if (now_ms - worker.left_at_ms < worker.config.flush_interval_ms) return;
  worker.left_at_ms = now_ms;
  publish(worker.exchange, worker.upstreams, true, now_ms);
  publishDoors(worker.exchange, worker.upstreams, now_ms);
  readOthers(worker.exchange, worker.upstreams, now_ms);
  readSnapshots(worker.exchange, worker.upstreams, now_ms);
  readLimits(worker.store, worker.upstreams, worker.exchange.decode);
  readDrains(worker.store, worker.upstreams, worker.exchange.decode, now_ms);
}
