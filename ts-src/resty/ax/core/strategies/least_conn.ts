import type { Strategy } from "../strategy";

interface State {
  /** Where the scan starts: moves with every pick, so that ties take turns. */
  offset: number;
}

/**
 * Weighted least connections: the fewest requests in flight per weight, over all workers (own exact,
 * others' as of the last flush). Ties take turns, each worker starting elsewhere.
 */
export const leastConn: Strategy<State> = {
  name: "least_conn",
  options: {},
  create(pool, _options, random) {
    return { offset: pool.n > 0 ? random.state % pool.n : 0 };
  },
  pick(state, pool, candidates, count) {
    let at = state.offset + 1;
    if (at >= count) at = 0;
    state.offset = at;
    let node = candidates[at];
    let least = Infinity;
    for (let k = 0; k < count; k++) {
      const other = candidates[at];
      const weight = pool.static_weight[other];
      const load = (pool.in_flight[other] + pool.others_in_flight[other] + 1) / (weight > 0 ? weight : 1e-9);
      if (load < least) {
        least = load;
        node = other;
      }
      at++;
      if (at >= count) at = 0;
    }
    return node;
  },
};
