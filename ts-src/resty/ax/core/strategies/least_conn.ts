import { drawNode, fillNodeTable, newNodeTable, type NodeTable } from "../node_table";
import type { Pool } from "../pool";
import type { Random } from "../random";
import type { Strategy } from "../strategy";
import { newTurns, takeTurn, type Turns, updateTurns } from "../turns";

interface State {
  random: Random;
  scan_limit: number;
  sample: number;
  /** Who is next among equals. */
  turns: Turns;
  /** Pool version the turns are for. */
  version: number;
  /** For pools above `scan_limit`. */
  nodes: NodeTable;
  /** For nodes of weight 0, which have no turns. */
  offset: number;
}

/** Requests in flight per weight. Nodes of weight 0 are for when there is nothing else. */
function loadOf(pool: Pool, node: number): number {
  const weight = pool.static_weight[node];
  return weight > 0 ? (pool.in_flight[node] + pool.others_in_flight[node]) / weight : Infinity;
}

function scan(state: State, pool: Pool, candidates: number[], count: number): number {
  const due = state.turns.due;
  state.offset = state.offset + 1 < count ? state.offset + 1 : 0;
  let node = candidates[state.offset];
  let least = loadOf(pool, node);
  for (let k = 0; k < count; k++) {
    const other = candidates[k];
    const load = loadOf(pool, other);
    if (load < least || (load === least && due[other] < due[node])) {
      least = load;
      node = other;
    }
  }
  return node;
}

/** @returns -1 when all nodes of the table have gone out since the last flush */
function sampled(state: State, pool: Pool): number {
  let node = drawNode(state.nodes, pool, state.random);
  if (node < 0) return -1;
  let least = loadOf(pool, node);
  for (let k = 1; k < state.sample; k++) {
    const other = drawNode(state.nodes, pool, state.random);
    const load = other < 0 ? Infinity : loadOf(pool, other);
    // Of equals the first: they were drawn by weight.
    if (load < least) {
      least = load;
      node = other;
    }
  }
  return node;
}

/**
 * Weighted least connections, as in nginx (ngx_http_upstream_least_conn_module.c): the fewest requests in flight per
 * weight; nodes that are equal take turns by weight, so that an idle upstream follows the weights, too.
 *
 * Deviations: requests of all workers count (own exact, others' as of the last flush). Of more than `scan_limit`
 * nodes, `sample` are drawn by weight and compared: "the power of d choices" (Mitzenmacher 1996) instead of a look at
 * every node, which takes longer than the request.
 */
export const leastConn: Strategy<State> = {
  name: "least_conn",
  options: {
    scan_limit: {
      kind: "number",
      integer: true,
      min: 1,
      max: 10000,
      default: 128,
      doc: "Up to so many usable nodes all are compared; above it, a few drawn by weight.",
      reason: "128 nodes take about half a microsecond",
    },
    sample: {
      kind: "number",
      integer: true,
      min: 2,
      max: 64,
      default: 8,
      doc: "How many nodes are drawn and compared above `scan_limit`.",
      reason: "with half of the nodes busy, all 8 are in one pick of 256",
    },
  },
  create(pool, options, random) {
    return {
      random,
      scan_limit: options["scan_limit"] as number,
      sample: options["sample"] as number,
      turns: newTurns(pool, random),
      version: -1,
      nodes: newNodeTable(),
      offset: 0,
    };
  },
  prepare(state, pool) {
    if (state.version === pool.version) return false;
    updateTurns(state.turns, pool);
    if (pool.candidate_count > state.scan_limit) fillNodeTable(state.nodes, pool, pool.static_weight);
    state.version = pool.version;
    return false;
  },
  pick(state, pool, candidates, count) {
    let node = -1;
    if (count > state.scan_limit && candidates === pool.candidates) node = sampled(state, pool);
    if (node < 0) node = scan(state, pool, candidates, count);
    takeTurn(state.turns, node);
    return node;
  },
};
