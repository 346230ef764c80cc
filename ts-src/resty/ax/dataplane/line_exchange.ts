/**
 * What workers tell each other of their queues, in the shared store. A worker without waiters writes nothing, and
 * reads one number per upstream and millisecond.
 *
 * | key | written by | lives |
 * |---|---|---|
 * | line:0:<upstream>      | every worker with waiters: the time          | for ever (one number an upstream) |
 * | line:<slot>:<upstream> | its worker: time, best key, waiters by class | stale after STALE_MS |
 */
import { LOWEST_PRIORITY } from "../core/priority";
import { headKey } from "../core/queue";
import type { Store } from "../core/store";
import { lastSlot, lineKey } from "../core/worker_keys";
import type { Hall, Line } from "./line";

/**
 * A worker that has not polled for so long is stuck or dead, and its waiters do not hold up the others'. Many polls,
 * for a busy worker comes late; few of a request's own times.
 */
const STALE_MS = 50;

/** The other workers' queues of one upstream, as published last. */
export interface Others {
  name: string;
  /** Key of their best waiter; Infinity = none. */
  key: number;
  /** Their waiters, in all and by priority − 1. */
  length: number;
  counts: number[];
  read_at_ms: number;
  time_key: string;
  /** Names of the records, by slot − 1. */
  keys: string[];
}

export function newOthers(name: string): Others {
  const counts: number[] = [];
  for (let k = 0; k < LOWEST_PRIORITY; k++) counts[k] = 0;
  return { name, key: Infinity, length: 0, counts, read_at_ms: -1, time_key: lineKey(name, 0), keys: [] };
}

function addRecord(others: Others, text: string, now_ms: number): void {
  const [at_ms, key, a, b, c, d, e] = string.match(text, "^(%d+) (%d+) (%d+) (%d+) (%d+) (%d+) (%d+)$");
  const at = tonumber(at_ms);
  if (at === undefined || math.abs(now_ms - at) > STALE_MS) return;
  others.key = math.min(others.key, tonumber(key) ?? Infinity);
  const texts = [a, b, c, d, e];
  for (let k = 0; k < LOWEST_PRIORITY; k++) {
    const count = tonumber(texts[k]) ?? 0;
    others.counts[k] += count;
    others.length += count;
  }
}

/** Reads what the others have published; once per turn of the event loop. */
export function foldOthers(others: Others, store: Store, own_slot: number, now_ms: number): void {
  if (others.read_at_ms === now_ms) return;
  others.read_at_ms = now_ms;
  others.key = Infinity;
  others.length = 0;
  for (let k = 0; k < LOWEST_PRIORITY; k++) others.counts[k] = 0;
  const last = store.get(others.time_key);
  if (typeof last !== "number" || math.abs(now_ms - last) > STALE_MS) return;
  const slots = lastSlot(store);
  for (let slot = 1; slot <= slots; slot++) {
    if (slot !== own_slot) {
      let key = others.keys[slot - 1];
      if (key === undefined) {
        key = lineKey(others.name, slot);
        others.keys[slot - 1] = key;
      }
      const text = store.get(key);
      if (typeof text === "string") addRecord(others, text, now_ms);
    }
  }
}

/** Tells the others what this worker's queue looks like now. */
export function publishLine(hall: Hall, line: Line, now_ms: number): void {
  const slot = hall.slot();
  if (slot <= 0) return;
  const queue = line.queue;
  const key = lineKey(line.others.name, slot);
  if (queue.length === 0) {
    if (line.published) hall.store.remove(key);
    line.published = false;
    return;
  }
  const counts = queue.counts;
  const text = string.format(
    "%d %d %d %d %d %d %d",
    now_ms,
    headKey(queue),
    counts[0],
    counts[1],
    counts[2],
    counts[3],
    counts[4],
  );
  line.published = hall.store.set(key, text) || line.published;
  hall.store.set(line.others.time_key, now_ms);
}
