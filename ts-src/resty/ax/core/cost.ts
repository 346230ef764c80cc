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
 * All but the silence is in `resting_cost` already (`weigh`). Without a branch, for the loop of `leastOfMany`: LuaJIT
 * compiles each way through a branch to a trace of its own, and going from one to another costs more than all of the
 * arithmetic.
 *
 * @param now_ms monotonic ms
 */
export function cost(pool: Pool, node: number, now_ms: number): number {
  const silence = (now_ms - pool.silent_since_ms[node]) * pool.silence_per_ms[node];
  return pool.resting_cost[node] * Math.max(1, Math.min(silence, SILENCE_FACTOR_MAX));
}

/**
 * Brings up to date what picks read of a node: the parts of its cost, and its rank by load. To be called after any
 * change of what it is made of. A pick looks at every node and a request changes one: it is cheaper here.
 */
export function weigh(pool: Pool, node: number): void {
  const latency_ms = pool.latency_ms[node];
  const success = pool.success[node];
  const inverse_prior = pool.inverse_prior[node];
  const oldest_start_ms = pool.oldest_start_ms[node];
  const own = pool.in_flight[node] - pool.long_in_flight[node];
  // Both sides of the others' share are multiplied by this.
  const aged_ms = latency_ms + OTHERS_AGE_MS;
  const in_flight = (own + 1) * aged_ms + pool.others_in_flight[node] * latency_ms;
  const dearness = in_flight * latency_ms * Math.sqrt(latency_ms) * inverse_prior;
  // 0 when nothing is waited for, else all of them: clocks do not start at fractions of a millisecond.
  const waiting = Math.min(own, oldest_start_ms * IN_FLIGHT_MAX);
  pool.resting_cost[node] = dearness / (aged_ms * success * success * success);
  pool.silent_since_ms[node] = Math.max(oldest_start_ms, pool.last_sample_ms[node]);
  pool.silence_per_ms[node] = waiting / (SILENCE_LIMIT * latency_ms);
  pool.load_rank[node] = Math.floor((own + 1) * inverse_prior * pool.highest_prior + 0.5);
}

/** The same for all nodes: flushes, and when candidates change. */
export function weighAll(pool: Pool): void {
  for (let node = 0; node < pool.n; node++) weigh(pool, node);
}

/** Notes the highest prior of the candidates, which loads are rounded by. Followed by `weighAll`. */
export function noteHighestPrior(pool: Pool): void {
  let least_inverse = Infinity;
  for (let k = 0; k < pool.candidate_count; k++) {
    least_inverse = Math.min(least_inverse, pool.inverse_prior[pool.candidates[k]]);
  }
  pool.highest_prior = 1 / least_inverse;
}

/**
 * One node is preferred to another when it costs less than this share of the other. Latencies are means of few samples:
 * without the margin a quiet upstream sends everything to whichever node was luckiest last.
 */
const CLEARLY_CHEAPER = 0.7;

/** Times by how much a candidate is dearer than the margin allows: more than any rank, however little that is. */
const DEARER = 1e300;

/** More than any number of candidates. */
const POSITIONS_MAX = 1e9;

/**
 * What decides between candidates: whether the cost is over the limit; then requests in flight for its prior, relative
 * to the highest prior and rounded (`load_rank`), so that idle nodes of about the same prior are equal, whatever the
 * noise of their scores; then the position, counted from the offset on. Of the least one, the position can be read.
 *
 * No function here returns what `Math.min` or `Math.max` returns: LuaJIT takes tail calls of these for loops, and gives
 * up ("leaving loop in root trace"). Nor what a function of ours returns, where it is one of many: more than fifteen tail
 * calls in a trace count as a loop, too.
 *
 * @param ahead position − offset: where it is negative, the turn comes after the last position
 */
function rank(pool: Pool, node: number, node_cost: number, ahead: number, count: number, limit: number): number {
  const turn = Math.max(ahead, Math.min(ahead + count, ahead * -POSITIONS_MAX));
  return pool.load_rank[node] * count + turn + Math.max(0, node_cost - limit) * DEARER;
}

/** Candidates compared without a loop. */
const FEW = 12;

/**
 * The least rank among up to twelve. A trace of the balancer phase cannot contain a loop (phases/balancer.ts), and around
 * one it goes on in the interpreter: without, a pick is one piece of machine code. Costs are in variables, not in a
 * table: after a store into one, LuaJIT reads all others anew.
 */
function leastOfFew(pool: Pool, candidates: number[], count: number, offset: number, now_ms: number): number {
  const cost_0 = cost(pool, candidates[0], now_ms);
  const cost_1 = count > 1 ? cost(pool, candidates[1], now_ms) : Infinity;
  const cost_2 = count > 2 ? cost(pool, candidates[2], now_ms) : Infinity;
  const cost_3 = count > 3 ? cost(pool, candidates[3], now_ms) : Infinity;
  const cost_4 = count > 4 ? cost(pool, candidates[4], now_ms) : Infinity;
  const cost_5 = count > 5 ? cost(pool, candidates[5], now_ms) : Infinity;
  const cost_6 = count > 6 ? cost(pool, candidates[6], now_ms) : Infinity;
  const cost_7 = count > 7 ? cost(pool, candidates[7], now_ms) : Infinity;
  const cost_8 = count > 8 ? cost(pool, candidates[8], now_ms) : Infinity;
  const cost_9 = count > 9 ? cost(pool, candidates[9], now_ms) : Infinity;
  const cost_10 = count > 10 ? cost(pool, candidates[10], now_ms) : Infinity;
  const cost_11 = count > 11 ? cost(pool, candidates[11], now_ms) : Infinity;
  const least_of_six = Math.min(cost_0, cost_1, cost_2, cost_3, cost_4, cost_5);
  const least = count > 6 ? Math.min(least_of_six, cost_6, cost_7, cost_8, cost_9, cost_10, cost_11) : least_of_six;
  const limit = least / CLEARLY_CHEAPER;
  let first = rank(pool, candidates[0], cost_0, -offset, count, limit);
  if (count > 1) first = Math.min(first, rank(pool, candidates[1], cost_1, 1 - offset, count, limit));
  if (count > 2) first = Math.min(first, rank(pool, candidates[2], cost_2, 2 - offset, count, limit));
  if (count > 3) first = Math.min(first, rank(pool, candidates[3], cost_3, 3 - offset, count, limit));
  if (count > 4) first = Math.min(first, rank(pool, candidates[4], cost_4, 4 - offset, count, limit));
  if (count > 5) first = Math.min(first, rank(pool, candidates[5], cost_5, 5 - offset, count, limit));
  if (count > 6) first = Math.min(first, rank(pool, candidates[6], cost_6, 6 - offset, count, limit));
  if (count > 7) first = Math.min(first, rank(pool, candidates[7], cost_7, 7 - offset, count, limit));
  if (count > 8) first = Math.min(first, rank(pool, candidates[8], cost_8, 8 - offset, count, limit));
  if (count > 9) first = Math.min(first, rank(pool, candidates[9], cost_9, 9 - offset, count, limit));
  if (count > 10) first = Math.min(first, rank(pool, candidates[10], cost_10, 10 - offset, count, limit));
  if (count > 11) first = Math.min(first, rank(pool, candidates[11], cost_11, 11 - offset, count, limit));
  return first;
}

/** Costs by position among the candidates: valid within one call of `leastOfMany` only. */
const costs: number[] = [];

/** No branch in the loops; see `cost`. */
function leastOfMany(pool: Pool, candidates: number[], count: number, offset: number, now_ms: number): number {
  for (let k = costs.length; k < count; k++) costs[k] = 0;
  let least = Infinity;
  for (let k = 0; k < count; k++) {
    const node_cost = cost(pool, candidates[k], now_ms);
    costs[k] = node_cost;
    least = Math.min(least, node_cost);
  }
  const limit = least / CLEARLY_CHEAPER;
  let least_rank = Infinity;
  for (let k = 0; k < count; k++) {
    least_rank = Math.min(least_rank, rank(pool, candidates[k], costs[k], k - offset, count, limit));
  }
  return least_rank;
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
  const position = ((least % count) + offset) % count;
  // None when a measurement is no number, or beyond all bounds: no node is better than another then.
  return position >= 0 && position < count && position % 1 === 0 ? position : offset;
}
