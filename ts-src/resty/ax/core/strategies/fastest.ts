import type { Pool } from "../pool";
import { draw, type Random } from "../random";
import type { Strategy } from "../strategy";
import { type AliasTable, buildAliasTable, drawAlias, newAliasTable } from "../weighted";

interface State {
  random: Random;
  min_samples: number;
  sharpness: number;
  table: AliasTable;
  /** By position among the pool's candidates: weight and response time that the table was built from. */
  weights: number[];
  built_ms: number[];
  /** Pool version and time the table was built for. */
  version: number;
  built_at_ms: number;
  /** Mean of the believed latencies, and least response time, at that moment. */
  typical_ms: number;
  least_ms: number;
}

/** How old the table may grow: a node that becomes faster gains its share within that. */
const REBUILD_MS = 100;

/** No node falls under this share of the fastest one's traffic for being slow: it could never be seen to recover. */
const MIN_SHARE = 0.01;

/** Mean latency ÷ success³; a latency of few samples is not believed, the mean of the others stands in. */
function responseMs(state: State, pool: Pool, node: number): number {
  const success = pool.success[node];
  const latency_ms = pool.samples[node] >= state.min_samples ? pool.latency_ms[node] : state.typical_ms;
  return latency_ms / (success * success * success);
}

function weightOf(state: State, pool: Pool, node: number): number {
  const success = pool.success[node];
  const failing = success * success * success;
  const speed = (state.least_ms / (responseMs(state, pool, node) * failing)) ** state.sharpness;
  const share = speed > MIN_SHARE ? speed : MIN_SHARE;
  return pool.static_weight[node] * share * failing ** state.sharpness;
}

/** What a believed node usually takes, and what the fastest takes. */
function compare(state: State, pool: Pool): void {
  let sum_ms = 0;
  let believed = 0;
  for (let k = 0; k < pool.candidate_count; k++) {
    const node = pool.candidates[k];
    if (pool.samples[node] >= state.min_samples) {
      sum_ms += pool.latency_ms[node];
      believed++;
    }
  }
  state.typical_ms = believed > 0 ? sum_ms / believed : 1;
  let least_ms = Infinity;
  for (let k = 0; k < pool.candidate_count; k++) {
    const node = pool.candidates[k];
    const latency_ms = pool.samples[node] >= state.min_samples ? pool.latency_ms[node] : state.typical_ms;
    if (latency_ms < least_ms) least_ms = latency_ms;
  }
  state.least_ms = least_ms;
}

function rebuild(state: State, pool: Pool, now_ms: number): void {
  compare(state, pool);
  for (let k = 0; k < pool.candidate_count; k++) {
    state.weights[k] = weightOf(state, pool, pool.candidates[k]);
    state.built_ms[k] = responseMs(state, pool, pool.candidates[k]);
  }
  buildAliasTable(state.table, state.weights, pool.candidate_count);
  state.version = pool.version;
  state.built_at_ms = now_ms;
}

/** Whether a drawn node keeps its draw: for sure unless it has become slower or failed since the table was built. */
function keeps(state: State, pool: Pool, candidates: number[], k: number): boolean {
  const ratio = state.built_ms[k] / responseMs(state, pool, candidates[k]);
  return ratio >= 1 || draw(state.random) < ratio ** state.sharpness;
}

/** Up to three draws by table; the last is taken as it is. No loop: of so few rounds LuaJIT makes no good trace. */
function pickByTable(state: State, pool: Pool, candidates: number[]): number {
  let k = drawAlias(state.table, state.random);
  if (!keeps(state, pool, candidates, k)) {
    k = drawAlias(state.table, state.random);
    if (!keeps(state, pool, candidates, k)) k = drawAlias(state.table, state.random);
  }
  return candidates[k];
}

function pickFromList(state: State, pool: Pool, candidates: number[], count: number): number {
  let total = 0;
  for (let k = 0; k < count; k++) total += weightOf(state, pool, candidates[k]);
  let left = draw(state.random) * (total > 0 ? total : count);
  for (let k = 0; k < count; k++) {
    left -= total > 0 ? weightOf(state, pool, candidates[k]) : 1;
    if (left < 0) return candidates[k];
  }
  return candidates[count - 1];
}

/**
 * By response time: each node in proportion to weight ÷ (mean latency ÷ success³)^sharpness.
 *
 * Weighted random, not "the fastest wins": the fastest of one moment would get everything, from every
 * worker and gateway, until it is the slowest (Mitzenmacher, "How Useful Is Old Information?", 2000).
 */
export const fastest: Strategy<State> = {
  name: "fastest",
  options: {
    min_samples: {
      kind: "number",
      integer: true,
      min: 1,
      max: 10000,
      default: 20,
      doc: "Fewer answers than this say too little of a node's speed: it counts as fast as the mean of the others.",
      reason: "the mean of 20 exponential times is within 45 % of the truth, 19 times of 20",
    },
    sharpness: {
      kind: "number",
      min: 0.5,
      max: 8,
      default: 2,
      doc: "How much faster nodes are preferred: at 1, one twice as fast gets twice the requests; at 2, four times.",
      reason: "at 1 every node has as many requests in flight as the fastest; at 8 the fastest gets all and slows down",
    },
  },
  create(pool, options, random) {
    const state: State = {
      random,
      min_samples: options["min_samples"] as number,
      sharpness: options["sharpness"] as number,
      table: newAliasTable(),
      weights: [],
      built_ms: [],
      version: -1,
      built_at_ms: 0,
      typical_ms: 1,
      least_ms: 1,
    };
    if (pool.candidate_count > 0) rebuild(state, pool, 0);
    return state;
  },
  pick(state, pool, candidates, count, request) {
    const stale = state.version !== pool.version || request.now_ms - state.built_at_ms > REBUILD_MS;
    if (stale) rebuild(state, pool, request.now_ms);
    if (candidates === pool.candidates) return pickByTable(state, pool, candidates);
    return pickFromList(state, pool, candidates, count);
  },
};
