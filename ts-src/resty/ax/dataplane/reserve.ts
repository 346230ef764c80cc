/**
 * Places kept for requests before nginx connects: access() picks the node, and the balancer uses that
 * very one for the first try. A place counts as in flight from the moment it is kept, so whatever ends a try
 * (the log phase, a redirect, the sweep) also gives back a place that was never used.
 */
import { weigh } from "../core/cost";
import { isUsable, STATES } from "../core/health/states";
import type { FaultReporter } from "./pick";
import { pickNode } from "./pick";
import type { RequestRecord } from "./requests";
import type { Upstream } from "./upstream";

/**
 * Picks a node for a request that has no try in flight and keeps a place there.
 * @returns false when no node has room
 */
export function reserve(upstream: Upstream, record: RequestRecord, now_ms: number, report: FaultReporter): boolean {
  const trials = upstream.trials;
  trials.taken = -1;
  const node = pickNode(upstream, record, now_ms, report, upstream.door.line !== undefined);
  if (node < 0) return false;
  record.upstream = upstream;
  record.node = node;
  record.start_ms = now_ms;
  record.reserved = true;
  record.on_trial = upstream.state[node] === "probing";
  record.trial = trials.taken === node ? trials.granted[node] : 0;
  record.is_long = false;
  // In no list: what has not been sent yet must not make the node look slow to answer.
  record.prev = record;
  record.next = record;
  upstream.pool.in_flight[node]++;
  weigh(upstream.pool, node);
  return true;
}

/**
 * Whether the place that a request has may be used: it is in this upstream, and its node has not been taken out
 * since.
 */
export function hasPlace(upstream: Upstream, record: RequestRecord): boolean {
  if (!record.reserved || record.upstream !== upstream || record.node < 0) return false;
  const state = upstream.state[record.node];
  if (record.on_trial && state === "probing") return true;
  if (upstream.panic) return !STATES[state].by_operator;
  return isUsable(state) && upstream.held_until_ms[record.node] === 0;
}
