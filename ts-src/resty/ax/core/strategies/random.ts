import { drawNode, fillNodeTable, newNodeTable, type NodeTable } from "../node_table";
import type { Random } from "../random";
import type { Strategy } from "../strategy";
import { drawWeighted } from "../weighted";

interface State {
  random: Random;
  nodes: NodeTable;
}

/** Weighted random: each node in proportion to its weight, whatever its load. */
export const random: Strategy<State> = {
  name: "random",
  options: {},
  create(_pool, _options, source) {
    return { random: source, nodes: newNodeTable() };
  },
  prepare(state, pool) {
    if (state.nodes.version !== pool.version) fillNodeTable(state.nodes, pool, pool.static_weight);
    return false;
  },
  pick(state, pool, candidates, count) {
    if (candidates === pool.candidates) {
      const node = drawNode(state.nodes, pool, state.random);
      if (node >= 0) return node;
    }
    return drawWeighted(candidates, count, pool.static_weight, state.random);
  },
};
