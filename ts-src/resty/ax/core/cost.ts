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

/** More requests in flight than a node ever has. */
const IN_FLIGHT_MAX = 1e9;

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
 * Written without a branch, for the loop of `cheapest`: LuaJIT compiles each way through a branch to a trace of its own,
 * and going from one to another costs more than all of the arithmetic. One division and one root: with the terms above
 * it would be four divisions (latency · √latency · silence is √latency · clamp(…) after cancelling).
 *
 * @param now_ms monotonic ms
 */
export function cost(pool: Pool, node: number, now_ms: number): number {
  const latency_ms = pool.latency_ms[node];
  const success = pool.success[node];
  const oldest_start_ms = pool.oldest_start_ms[node];
  const own = pool.in_flight[node] - pool.long_in_flight[node];
  // Both sides of the others' share are multiplied by this.
  const aged_ms = latency_ms + OTHERS_AGE_MS;
  const in_flight = (own + 1) * aged_ms + pool.others_in_flight[node] * latency_ms;
  const silent_ms = now_ms - Math.max(oldest_start_ms, pool.last_sample_ms[node]);
  // 0 when nothing is waited for, else all of them: clocks do not start at fractions of a millisecond.
  const waiting = Math.min(own, oldest_start_ms * IN_FLIGHT_MAX);
  const expected_ms = Math.max(
    latency_ms,
    Math.min((silent_ms * waiting) / SILENCE_LIMIT, latency_ms * SILENCE_FACTOR_MAX),
  );
  const share = success * success * success * Math.max(pool.prior[node], MIN_WEIGHT);
  return (in_flight * Math.sqrt(latency_ms) * expected_ms) / (aged_ms * share);
}

/**
 * One node is preferred to another when it costs less than this share of the other. Latencies are means of few samples:
 * without the margin a quiet upstream sends everything to whichever node was luckiest last.
 */
const CLEARLY_CHEAPER = 0.7;

/** Costs by position among the candidates, and the best so far: valid within one call of `cheapest` only. */
const costs: number[] = [];
const best = { node: 0, cost: 0, in_flight: 0 };
let room = 0;

/** No branch in this loop; see `cost`. */
function costAll(pool: Pool, candidates: number[], count: number, now_ms: number): void {
  for (; room < count; room++) costs[room] = 0;
  for (let k = 0; k < count; k++) costs[k] = cost(pool, candidates[k], now_ms);
}

/** Goes on comparing with the candidates from one position to before another. */
function compare(in_flights: number[], candidates: number[], from: number, to: number): void {
  let node = best.node;
  let least = best.cost;
  let least_in_flight = best.in_flight;
  for (let k = from; k < to; k++) {
    const other_cost = costs[k];
    if (other_cost < least) {
      const in_flight = in_flights[candidates[k]];
      if (other_cost < least * CLEARLY_CHEAPER || in_flight < least_in_flight) {
        least = other_cost;
        least_in_flight = in_flight;
        node = candidates[k];
      }
    }
  }
  best.node = node;
  best.cost = least;
  best.in_flight = least_in_flight;
}

/**
 * The candidate of about the least cost. Of two that differ by less than chance explains, the one with fewer requests
 * of this worker in flight; else the first from `offset` on, so that callers who move `offset` spread requests evenly.
 *
 * @param count how many entries of `candidates` are valid, at least 1
 * @param offset 0 .. count-1
 */
export function cheapest(pool: Pool, candidates: number[], count: number, offset: number, now_ms: number): number {
  costAll(pool, candidates, count, now_ms);
  best.node = candidates[offset];
  best.cost = costs[offset];
  best.in_flight = pool.in_flight[candidates[offset]];
  compare(pool.in_flight, candidates, offset + 1, count);
  compare(pool.in_flight, candidates, 0, offset);
  return best.node;
}
