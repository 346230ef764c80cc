import type { Pool } from "./pool";

/** A request in flight for longer than this many times the node's latency makes the node suspect. */
const AGE_LIMIT_LATENCIES = 1.5;

/**
 * How much the age of the oldest request can add. Enough to leave a node that hangs; not endless, because where all
 * requests are long (WebSocket) age tells nothing, and every node is at the limit then.
 */
const AGE_FACTOR_MAX = 50;

/** Stands in for weight 0: such a node costs more than any other, yet stays comparable. */
const MIN_WEIGHT = 1e-9;

/**
 * The expected cost of sending the next request to a node: lower is better.
 *
 *     (in_flight + 1) · latency / success³ · clamp(oldest_age / (1.5 · latency), 1, 50) / prior
 *
 * Least-requests times latency is the "peak EWMA" load of Finagle and tower; here failures enter as
 * the cube of the success share, because a node that fails fast must never look fast, and the age of
 * the oldest request in flight tells of a node that hangs before any of its requests has ended.
 * The prior is base weight × ramp × √score: capacity, ramps, the operator's will, and what the collector has seen over
 * a longer time. The root, because the score is made of the same latencies and errors, up to a minute old: in full it
 * would hold back a recovered node for as long; left out, a slow node gets twice as many requests under pressure.
 *
 * @param now_ms monotonic ms
 */
export function cost(pool: Pool, node: number, now_ms: number): number {
  const latency_ms = pool.latency_ms[node];
  const success = pool.success[node];
  const weight = pool.prior[node];
  const in_flight = pool.in_flight[node] - pool.long_in_flight[node] + pool.others_in_flight[node] + 1;
  let total = (in_flight * latency_ms) / (success * success * success * (weight > MIN_WEIGHT ? weight : MIN_WEIGHT));
  const oldest_start_ms = pool.oldest_start_ms[node];
  if (oldest_start_ms > 0) {
    const age = (now_ms - oldest_start_ms) / (AGE_LIMIT_LATENCIES * latency_ms);
    if (age > 1) total = total * (age < AGE_FACTOR_MAX ? age : AGE_FACTOR_MAX);
  }
  return total;
}

/**
 * One node is preferred to another when it costs less than this share of the other. Latencies are means of few samples:
 * without the margin a quiet upstream sends everything to whichever node was luckiest last.
 */
const CLEARLY_CHEAPER = 0.7;

/**
 * The candidate of about the least cost. Of two that differ by less than chance explains, the one with fewer requests
 * in flight; else the first from `offset` on, so that callers who move `offset` spread requests evenly.
 *
 * @param count how many entries of `candidates` are valid, at least 1
 * @param offset 0 .. count-1
 */
export function cheapest(pool: Pool, candidates: number[], count: number, offset: number, now_ms: number): number {
  let node = candidates[offset];
  let least = cost(pool, node, now_ms);
  let least_in_flight = pool.in_flight[node] + pool.others_in_flight[node];
  for (let k = 1; k < count; k++) {
    let at = offset + k;
    if (at >= count) at = at - count;
    const other = candidates[at];
    const other_cost = cost(pool, other, now_ms);
    const in_flight = pool.in_flight[other] + pool.others_in_flight[other];
    if (other_cost < least * CLEARLY_CHEAPER || (other_cost < least && in_flight < least_in_flight)) {
      least = other_cost;
      least_in_flight = in_flight;
      node = other;
    }
  }
  return node;
}
