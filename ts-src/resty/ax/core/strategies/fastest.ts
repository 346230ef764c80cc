import { closeNodeTable, drawNode, newNodeTable, type NodeTable } from "../node_table";
import type { Pool } from "../pool";
import { draw, type Random } from "../random";
import type { Strategy } from "../strategy";

interface State {
  random: Random;
  min_samples: number;
  sharpness: number;
  nodes: NodeTable;
  /** By node: the response time that the table was built from. */
  built_ms: number[];
  /** When the table was built, monotonic ms. */
  built_at_ms: number;
  /** Mean of the believed latencies, and least response time, at that moment. */
  typical_ms: number;
  least_ms: number;
}

/** How old the table may grow before a flush builds a new one: within that, a node that becomes faster gains its share. */
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
  const { nodes, weights } = state.nodes;
  for (let k = 0; k < pool.candidate_count; k++) {
    const node = pool.candidates[k];
    nodes[k] = node;
    weights[k] = weightOf(state, pool, node);
    state.built_ms[node] = responseMs(state, pool, node);
  }
  closeNodeTable(state.nodes, pool.candidate_count, pool.version);
  state.built_at_ms = now_ms;
}

/** Whether a drawn node keeps its draw: for sure unless it has become slower or failed since the table was built. */
function keeps(state: State, pool: Pool, node: number): boolean {
  const ratio = state.built_ms[node] / responseMs(state, pool, node);
  return ratio >= 1 || draw(state.random) < ratio ** state.sharpness;
}

/**
 * Up to three draws by table; the last is taken as it is. No loop: of so few rounds LuaJIT makes no good trace.
 * @returns -1 when the table has no candidate
 */
function pickByTable(state: State, pool: Pool): number {
  let node = drawNode(state.nodes, pool, state.random);
  if (node < 0 || keeps(state, pool, node)) return node;
  node = drawNode(state.nodes, pool, state.random);
  if (node < 0 || keeps(state, pool, node)) return node;
  return drawNode(state.nodes, pool, state.random);
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
    const built_ms: number[] = [];
    for (let node = 0; node < pool.n; node++) built_ms[node] = 0;
    return {
      random,
      min_samples: options["min_samples"] as number,
      sharpness: options["sharpness"] as number,
      nodes: newNodeTable(),
      built_ms,
      built_at_ms: 0,
      typical_ms: 1,
      least_ms: 1,
    };
  },
  prepare(state, pool, now_ms) {
    const is_stale = state.nodes.version !== pool.version || now_ms - state.built_at_ms >= REBUILD_MS;
    if (is_stale) rebuild(state, pool, now_ms);
    return false;
  },
  pick(state, pool, candidates, count) {
    if (candidates === pool.candidates) {
      const node = pickByTable(state, pool);
      if (node >= 0) return node;
    }
    return pickFromList(state, pool, candidates, count);
  },
};
