/**
 * Requests in flight per node, with the start of the oldest: a doubly linked list per node, appended
 * at the end, so that the first is the oldest. All O(1), nothing allocated, and without branches: the
 * head of a list starts at 0, which is what "none in flight" reads as.
 */
import type { RequestRecord } from "./requests";
import type { Upstream } from "./upstream";

/** The request is sent to the node now. Any earlier try must have been ended. */
export function beginTry(upstream: Upstream, record: RequestRecord, node: number, now_ms: number): void {
  const pool = upstream.pool;
  const head = upstream.flights[node];
  const last = head.prev as RequestRecord;
  record.upstream = upstream;
  record.node = node;
  record.start_ms = now_ms;
  record.prev = last;
  record.next = head;
  last.next = record;
  head.prev = record;
  pool.in_flight[node]++;
  pool.oldest_start_ms[node] = (head.next as RequestRecord).start_ms;
  pool.last_pick_ms[node] = now_ms;
}

/** The try in flight, if there is one, is over. */
export function endTry(record: RequestRecord): void {
  const node = record.node;
  const upstream = record.upstream;
  if (node < 0 || upstream === undefined) return;
  const prev = record.prev as RequestRecord;
  const next = record.next as RequestRecord;
  prev.next = next;
  next.prev = prev;
  record.prev = undefined;
  record.next = undefined;
  record.node = -1;
  const pool = upstream.pool;
  pool.in_flight[node]--;
  pool.oldest_start_ms[node] = (upstream.flights[node].next as RequestRecord).start_ms;
}
