import { drawNode, fillNodeTable, newNodeTable, type NodeTable } from "../node_table";
import type { Pool } from "../pool";
import type { Strategy } from "../strategy";
import type { Random } from "../random";
import { drawWeighted } from "../weighted";

interface State {
  random: Random;
  /** Latencies compared: the pool's peaks, or its means. */
  peak: boolean;
  nodes: NodeTable;
}

/** Stands in for weight 0: such a node loses every comparison, yet can be compared. */
const MIN_WEIGHT = 1e-9;

/** Peak EWMA × (in flight + 1), per weight; failures enter as in core/cost.ts, so that a fast failure is not fast. */
function load(state: State, pool: Pool, node: number): number {
  const latency_ms = state.peak ? pool.peak_latency_ms[node] : pool.latency_ms[node];
  const in_flight = pool.in_flight[node] - pool.long_in_flight[node] + pool.others_in_flight[node] + 1;
  const success = pool.success[node];
  const weight = pool.static_weight[node];
  const share = success * success * success * (weight > MIN_WEIGHT ? weight : MIN_WEIGHT);
  return (latency_ms * in_flight) / share;
}

/** One of the candidates other than the node, where there is one. */
function neighbour(candidates: number[], count: number, node: number): number {
  return candidates[0] === node ? candidates[count - 1] : candidates[0];
}

/** The two of a pool's own candidates, by table: constant time. -1 when the table has none of them. */
function pickByTable(state: State, pool: Pool, candidates: number[], count: number): number {
  const node = drawNode(state.nodes, pool, state.random);
  if (node < 0 || count < 2) return node;
  let other = drawNode(state.nodes, pool, state.random);
  if (other === node) other = drawNode(state.nodes, pool, state.random);
  if (other === node) other = drawNode(state.nodes, pool, state.random);
  // One heavy node among light ones: any other will do. "Until different" has no bound.
  if (other === node || other < 0) other = neighbour(candidates, count, node);
  return load(state, pool, other) < load(state, pool, node) ? other : node;
}

/** The same for a list used once: there is no table of it. */
function pickFromList(state: State, pool: Pool, candidates: number[], count: number): number {
  const node = drawWeighted(candidates, count, pool.static_weight, state.random);
  let other = drawWeighted(candidates, count, pool.static_weight, state.random);
  if (other === node) other = drawWeighted(candidates, count, pool.static_weight, state.random);
  return load(state, pool, other) < load(state, pool, node) ? other : node;
}

/**
 * Power of two choices: of two different nodes drawn by weight, the one with less load, taken as peak
 * EWMA × (in flight + 1) as in Finagle (p2c/P2CLeastLoaded with PeakEwma) and tower (balance/p2c).
 * Mitzenmacher, "The Power of Two Choices in Randomized Load Balancing" (1996): the second look is what
 * takes the longest queue from log n / log log n to log log n.
 *
 * Deviations: weights; failures; a bounded number of draws, because with one heavy node among light
 * ones "draw until different" has no bound.
 */
export const p2c: Strategy<State> = {
  name: "p2c",
  options: {
    latency: {
      kind: "enum",
      values: ["peak", "mean"],
      default: "peak",
      doc: "Which latency is compared: `peak` rises at once with a slow answer and falls over 10 s, `mean` moves evenly.",
      reason: "a node that stalls is left at its first slow answer, as in Finagle",
    },
  },
  create(_pool, options, random) {
    return { random, peak: options["latency"] === "peak", nodes: newNodeTable() };
  },
  prepare(state, pool) {
    if (state.nodes.version !== pool.version) fillNodeTable(state.nodes, pool, pool.static_weight);
    return false;
  },
  pick(state, pool, candidates, count) {
    if (candidates === pool.candidates) {
      const node = pickByTable(state, pool, candidates, count);
      if (node >= 0) return node;
    }
    return pickFromList(state, pool, candidates, count);
  },
};
