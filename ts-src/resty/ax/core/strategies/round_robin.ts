import { draw } from "../random";
import type { Strategy } from "../strategy";

interface State {
  /** Running credit of each node; the node with the most credit is next. */
  credit: number[];
}

/**
 * Smooth weighted round robin, as in nginx (ngx_http_upstream_round_robin.c): every pick adds each
 * node's weight to its credit, takes the node with the most, and charges it the total. A node of
 * weight 5 is spread among the others instead of being picked five times in a row.
 *
 * Deviation: credits start at random, so that many workers do not all begin at the first node.
 */
export const roundRobin: Strategy<State> = {
  name: "round_robin",
  options: {},
  create(pool, _options, random) {
    const credit: number[] = [];
    for (let node = 0; node < pool.n; node++) credit[node] = draw(random) * pool.static_weight[node];
    return { credit };
  },
  pick(state, pool, candidates, count) {
    const credit = state.credit;
    let node = candidates[0];
    let most = -Infinity;
    let total = 0;
    for (let k = 0; k < count; k++) {
      const other = candidates[k];
      const weight = pool.static_weight[other];
      total += weight;
      const raised = credit[other] + weight;
      credit[other] = raised;
      if (raised > most) {
        most = raised;
        node = other;
      }
    }
    // With no weight above 0 nothing would move: charge one, so that the nodes take turns.
    credit[node] = most - (total > 0 ? total : 1);
    return node;
  },
};
