import type { Pool } from "./pool";

/**
 * A node that has not answered for this many times its usual time between two answers is suspect. Chance makes it so
 * in 22 % of all cases (exponential times), which costs little: the next best node is nearly as good. With 2.5 pauses of
 * 250 ms were found too late (docs/tuning.md).
 */
const SILENCE_LIMIT = 1.5;

/**
 * How much silence can add. Enough to leave a node that hangs; not endless, because where all requests are long
 * (WebSocket) silence tells nothing, and every node is at the limit then.
 */
const SILENCE_FACTOR_MAX = 50;

/**
 * The other workers' requests in flight are up to 100 ms old. Where requests take longer, most of them are still there;
 * where they are shorter, the count is of other requests, all workers have the same wrong one, and herd: they count less
 * then. Ignoring them altogether is as good with short requests, and blind with long ones (docs/tuning.md).
 */
const OTHERS_AGE_MS = 100;

/** Stands in for weight 0: such a node costs more than any other, yet stays comparable. */
const MIN_WEIGHT = 1e-9;

/**
 * The expected cost of sending the next request to a node: lower is better.
 *
 *     (in_flight + 1) · latency^1.5 / success³ · clamp(silence / 1.5, 1, 50) / prior
 *
 * Least-requests times latency is the "peak EWMA" load of Finagle and tower: the expected wait, which is what counts
 * for the mean. The tail is made by the slow nodes, so for the sake of the P99 they get less: hence the exponent
 * (docs/tuning.md). Failures enter as the cube of the success share, because a node that fails fast must never look
 * fast.
 *
 * In flight are this worker's requests, and the other workers' as far as their count is still true.
 *
 * Silence tells of a node that hangs or pauses before any of its requests has ended: the time since its last answer
 * (or since the oldest request it owes one), in times that usually pass between two answers. That is latency ÷ requests
 * in flight (Little's law), so the more requests wait for a node, the sooner its silence is heard. Each worker listens
 * for its own requests.
 *
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
  const others = (pool.others_in_flight[node] * latency_ms) / (latency_ms + OTHERS_AGE_MS);
  const in_flight = pool.in_flight[node] - pool.long_in_flight[node] + others + 1;
  const share = success * success * success * (weight > MIN_WEIGHT ? weight : MIN_WEIGHT);
  const total = (in_flight * latency_ms * Math.sqrt(latency_ms)) / share;
  const oldest_start_ms = pool.oldest_start_ms[node];
  if (oldest_start_ms <= 0) return total;
  const silent_ms = now_ms - Math.max(oldest_start_ms, pool.last_sample_ms[node]);
  const waiting = pool.in_flight[node] - pool.long_in_flight[node];
  const silence = (silent_ms * waiting) / (SILENCE_LIMIT * latency_ms);
  if (silence <= 1) return total;
  return total * Math.min(silence, SILENCE_FACTOR_MAX);
}

/**
 * One node is preferred to another when it costs less than this share of the other. Latencies are means of few samples:
 * without the margin a quiet upstream sends everything to whichever node was luckiest last.
 */
const CLEARLY_CHEAPER = 0.7;

/**
 * The candidate of about the least cost. Of two that differ by less than chance explains, the one with fewer requests
 * of this worker in flight; else the first from `offset` on, so that callers who move `offset` spread requests evenly.
 *
 * @param count how many entries of `candidates` are valid, at least 1
 * @param offset 0 .. count-1
 */
export function cheapest(pool: Pool, candidates: number[], count: number, offset: number, now_ms: number): number {
  let node = candidates[offset];
  let least = cost(pool, node, now_ms);
  let least_in_flight = pool.in_flight[node];
  for (let k = 1; k < count; k++) {
    let at = offset + k;
    if (at >= count) at = at - count;
    const other = candidates[at];
    const other_cost = cost(pool, other, now_ms);
    const in_flight = pool.in_flight[other];
    if (other_cost < least * CLEARLY_CHEAPER || (other_cost < least && in_flight < least_in_flight)) {
      least = other_cost;
      least_in_flight = in_flight;
      node = other;
    }
  }
  return node;
}
