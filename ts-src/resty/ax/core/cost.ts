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
const MIN_PRIOR = 1e-9;

/**
 * What `Pool.inverse_prior` holds of a node: divided once when the weights change, not for every node of every pick.
 *
 * @param prior at least 0
 */
export function inverseOf(prior: number): number {
  return 1 / Math.max(prior, MIN_PRIOR);
}

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
  const dearness = in_flight * Math.sqrt(latency_ms) * expected_ms * pool.inverse_prior[node];
  return dearness / (aged_ms * success * success * success);
}

/**
 * One node is preferred to another when it costs less than this share of the other. Latencies are means of few samples:
 * without the margin a quiet upstream sends everything to whichever node was luckiest last.
 */
const CLEARLY_CHEAPER = 0.7;

/** Times by how much a candidate is dearer than the margin allows: more than any rank, however little that is. */
const DEARER = 1e300;

/** Candidates compared without a loop. With 16, LuaJIT gives the trace up in some places: "too many spill slots". */
const FEW = 12;

/** Costs by position among the candidates: valid within one call of `cheapest` only, like the loads. */
const costs: number[] = [];
/** Requests in flight for the prior, by position. */
const loads: number[] = [];
for (let k = 0; k < FEW; k++) {
  costs[k] = 0;
  loads[k] = 0;
}

/** Writes down cost and load of the candidate at a position; returns the cost. */
function weigh(pool: Pool, node: number, at: number, now_ms: number): number {
  const node_cost = cost(pool, node, now_ms);
  costs[at] = node_cost;
  loads[at] = (pool.in_flight[node] - pool.long_in_flight[node] + 1) * pool.inverse_prior[node];
  return node_cost;
}

/**
 * What decides between candidates: whether the cost is over the limit; then requests in flight for its prior, relative
 * to the highest prior and rounded, so that idle nodes of about the same prior are equal, whatever the noise of their
 * scores; then the position, counted from the offset on. Of the least one, the position can be read.
 *
 * @param turn position, counted from the offset on, below `count`
 * @param most the highest prior of all candidates
 */
function rank(at: number, turn: number, count: number, limit: number, most: number): number {
  return Math.floor(loads[at] * most + 0.5) * count + turn + Math.max(0, costs[at] - limit) * DEARER;
}

/**
 * 1 when `a` is at least `b`, else 0: whole numbers, and no branch.
 *
 * No function here returns what `Math.min` or `Math.max` returns: LuaJIT takes tail calls of these for loops, and gives
 * up ("leaving loop in root trace"). Nor what a function of ours returns, where it is one of many: more than fifteen tail
 * calls in a trace count as a loop, too.
 */
function isAtLeast(a: number, b: number): number {
  const clamped = Math.max(0, Math.min(1, a - b + 1));
  return clamped;
}

/** Weighs four candidates from a position on, the last candidate standing in past the end; returns the least cost. */
function weighFour(pool: Pool, candidates: number[], from: number, last: number, now_ms: number): number {
  const second = Math.min(from + 1, last);
  const third = Math.min(from + 2, last);
  const fourth = Math.min(from + 3, last);
  const least = Math.min(
    weigh(pool, candidates[from], from, now_ms),
    weigh(pool, candidates[second], second, now_ms),
    weigh(pool, candidates[third], third, now_ms),
    weigh(pool, candidates[fourth], fourth, now_ms),
  );
  return least;
}

/** The least inverse of a prior among the same four. */
function leastInverse(pool: Pool, candidates: number[], from: number, last: number): number {
  const inverse_prior = pool.inverse_prior;
  const least = Math.min(
    inverse_prior[candidates[from]],
    inverse_prior[candidates[Math.min(from + 1, last)]],
    inverse_prior[candidates[Math.min(from + 2, last)]],
    inverse_prior[candidates[Math.min(from + 3, last)]],
  );
  return least;
}

function rankAt(at: number, count: number, offset: number, limit: number, most: number): number {
  const turn = at - offset + count * (1 - isAtLeast(at, offset));
  const own = rank(at, turn, count, limit, most);
  return own;
}

/** The least rank of the same four. */
function rankFour(from: number, count: number, offset: number, limit: number, most: number): number {
  const last = count - 1;
  const least = Math.min(
    rankAt(from, count, offset, limit, most),
    rankAt(Math.min(from + 1, last), count, offset, limit, most),
    rankAt(Math.min(from + 2, last), count, offset, limit, most),
    rankAt(Math.min(from + 3, last), count, offset, limit, most),
  );
  return least;
}

/**
 * The least rank among up to twelve. A trace of the balancer phase cannot contain a loop (phases/balancer.ts), and around
 * one it goes on in the interpreter: without, a pick is one piece of machine code.
 */
function leastOfFew(pool: Pool, candidates: number[], count: number, offset: number, now_ms: number): number {
  const last = count - 1;
  let least = weighFour(pool, candidates, 0, last, now_ms);
  if (count > 4) least = Math.min(least, weighFour(pool, candidates, 4, last, now_ms));
  if (count > 8) least = Math.min(least, weighFour(pool, candidates, 8, last, now_ms));
  const limit = least / CLEARLY_CHEAPER;
  let inverse = leastInverse(pool, candidates, 0, last);
  if (count > 4) inverse = Math.min(inverse, leastInverse(pool, candidates, 4, last));
  if (count > 8) inverse = Math.min(inverse, leastInverse(pool, candidates, 8, last));
  const most = 1 / inverse;
  let least_rank = rankFour(0, count, offset, limit, most);
  if (count > 4) least_rank = Math.min(least_rank, rankFour(4, count, offset, limit, most));
  if (count > 8) least_rank = Math.min(least_rank, rankFour(8, count, offset, limit, most));
  return least_rank;
}

/** The least rank of the candidates from one position to before another. */
function rankAll(from: number, to: number, turn: number, count: number, limit: number, most: number): number {
  let least = Infinity;
  for (let k = from; k < to; k++) least = Math.min(least, rank(k, k + turn, count, limit, most));
  return least;
}

/** No branch in the loops; see `cost`. */
function leastOfMany(pool: Pool, candidates: number[], count: number, offset: number, now_ms: number): number {
  for (let k = costs.length; k < count; k++) {
    costs[k] = 0;
    loads[k] = 0;
  }
  let least_cost = Infinity;
  let inverse = Infinity;
  for (let k = 0; k < count; k++) {
    const node = candidates[k];
    least_cost = Math.min(least_cost, weigh(pool, node, k, now_ms));
    inverse = Math.min(inverse, pool.inverse_prior[node]);
  }
  const limit = least_cost / CLEARLY_CHEAPER;
  const most = 1 / inverse;
  const wrapped = rankAll(0, offset, count - offset, count, limit, most);
  const unwrapped = rankAll(offset, count, -offset, count, limit, most);
  const least = Math.min(wrapped, unwrapped);
  return least;
}

/**
 * The candidate of about the least cost: of those that differ from the cheapest by less than chance explains, the one
 * with the fewest requests of this worker in flight for its prior; else the first from `offset` on. Callers pass the
 * position after the last choice, so that equal ones take turns.
 *
 * @param count how many entries of `candidates` are valid, at least 1
 * @param offset 0 .. count-1
 * @returns its position among the candidates
 */
export function cheapest(pool: Pool, candidates: number[], count: number, offset: number, now_ms: number): number {
  const least =
    count <= FEW
      ? leastOfFew(pool, candidates, count, offset, now_ms)
      : leastOfMany(pool, candidates, count, offset, now_ms);
  const at = (least % count) + offset;
  const position = at - count * isAtLeast(at, count);
  // None when a measurement is no number, or beyond all bounds: no node is better than another then.
  return position >= 0 && position < count && position % 1 === 0 ? position : offset;
}
