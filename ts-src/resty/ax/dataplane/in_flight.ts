/**
 * Requests in flight per node, with the start of the oldest: a doubly linked list per node, appended
 * at the end, so that the first is the oldest. All O(1), nothing allocated, and without branches: the
 * head of a list starts at 0, which is what "none in flight" reads as.
 */
import { weigh } from "../core/cost";
import type { RequestRecord } from "./requests";
import { freeSlot, type Slots } from "./slots";
import { giveTrialBack } from "./trials";
import type { Upstream } from "./upstream";

/** Puts the request at the end of its node's list: the latest one. */
function append(upstream: Upstream, record: RequestRecord, node: number, now_ms: number): void {
  const pool = upstream.pool;
  const head = upstream.flights[node];
  const last = head.prev as RequestRecord;
  record.start_ms = now_ms;
  record.prev = last;
  record.next = head;
  last.next = record;
  head.prev = record;
  pool.oldest_start_ms[node] = (head.next as RequestRecord).start_ms;
  pool.last_pick_ms[node] = now_ms;
  weigh(pool, node);
}

/** The request is sent to the node where access() kept a place for it (reserve.ts); it counts in flight already. */
export function beginReserved(upstream: Upstream, record: RequestRecord, now_ms: number): void {
  record.reserved = false;
  append(upstream, record, record.node, now_ms);
}

/** The request is sent to the node now. Any earlier try must have been ended. */
export function beginTry(upstream: Upstream, record: RequestRecord, node: number, now_ms: number): void {
  record.upstream = upstream;
  record.node = node;
  record.is_long = false;
  record.reserved = false;
  upstream.pool.in_flight[node]++;
  append(upstream, record, node, now_ms);
}

/** Gives the request's slots back, if it has any: also those of a pick that led to no try. */
export function freeSlots(record: RequestRecord): void {
  const node = record.slot_node;
  if (node < 0) return;
  const slots = (record.slot_upstream as Upstream).slots as Slots;
  record.slot_node = -1;
  freeSlot(slots, node);
  freeSlot(slots, slots.n);
}

/** The try in flight, if there is one, is over. */
export function endTry(record: RequestRecord): void {
  const node = record.node;
  const upstream = record.upstream;
  endTryUnweighed(record);
  if (node >= 0 && upstream !== undefined) weigh(upstream.pool, node);
}

/** The same for a try that is accounted right away (outcome.ts), which weighs the node. */
export function endTryUnweighed(record: RequestRecord): void {
  freeSlots(record);
  const node = record.node;
  const upstream = record.upstream;
  if (node < 0 || upstream === undefined) return;
  const prev = record.prev as RequestRecord;
  const next = record.next as RequestRecord;
  if (record.reserved && record.trial > 0) giveTrialBack(upstream, node, record.trial);
  prev.next = next;
  next.prev = prev;
  record.prev = undefined;
  record.next = undefined;
  record.node = -1;
  record.reserved = false;
  const pool = upstream.pool;
  pool.in_flight[node]--;
  if (record.is_long) pool.long_in_flight[node]--;
  pool.oldest_start_ms[node] = (upstream.flights[node].next as RequestRecord).start_ms;
}

/** The node has answered a request that was sent to it at `start_ms`. */
export function noteAnswered(upstream: Upstream, node: number, start_ms: number): void {
  const answered = upstream.pool.answered_start_ms;
  answered[node] = Math.max(answered[node], start_ms);
}

/**
 * A request that has lasted for less than both may be slow or stuck, and is not called long. 20 times the usual
 * latency: requests that cost 20 times as much as others (docs/tuning.md) still count as work while they run; streams
 * are known soon. With 2 s instead the streams of 2 s ago hid what a node had to do.
 */
const LONG_AFTER_MS = 200;
const LONG_AFTER_LATENCIES = 20;

/**
 * Takes requests that are long rather than stuck out of the lists of those that are waited for: they have lasted
 * long, and the node has answered later ones. Without this, one open stream would make its node look hung. Flush.
 */
export function setLongAside(upstream: Upstream, now_ms: number): void {
  const pool = upstream.pool;
  for (let node = 0; node < pool.n; node++) {
    const head = upstream.flights[node];
    const long_ms = Math.max(LONG_AFTER_MS, LONG_AFTER_LATENCIES * pool.latency_ms[node]);
    let first = head.next as RequestRecord;
    while (first !== head && now_ms - first.start_ms > long_ms && pool.answered_start_ms[node] > first.start_ms) {
      const next = first.next as RequestRecord;
      head.next = next;
      next.prev = head;
      first.prev = first;
      first.next = first;
      first.is_long = true;
      pool.long_in_flight[node]++;
      first = next;
    }
    pool.oldest_start_ms[node] = first.start_ms;
  }
}
