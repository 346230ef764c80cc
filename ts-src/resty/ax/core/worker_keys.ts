/** Keys of what each worker publishes under its slot (wire.ts, dataplane/worker_record.ts). */
import type { Store } from "./store";
import { asCount } from "./values";
import { SLOTS_MAX } from "./wire";

const LAST_SLOT_KEY = "worker:slots";

/** A worker's record: its process, and what it has in flight. */
export function workerKey(slot: number): string {
  return `worker:${slot}`;
}

/** What the API is told of a worker's queues. */
export function doorKey(slot: number): string {
  return `door:${slot}`;
}

/**
 * A worker's queue, for the other workers; slot 0: the time of the last word of any of them. The number goes before the
 * name: names may have colons in them.
 */
export function lineKey(upstream: string, slot: number): string {
  return `line:${slot}:${upstream}`;
}

/** @returns the last slot that may be taken, 0 .. SLOTS_MAX */
export function lastSlot(store: Store): number {
  return Math.min(SLOTS_MAX, asCount(store.get(LAST_SLOT_KEY)));
}

/** Slots up to this one are to be looked at. */
export function setLastSlot(store: Store, slot: number): void {
  store.set(LAST_SLOT_KEY, slot);
}
