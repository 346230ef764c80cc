import type { Pool } from "../pool";
import type { Random } from "../random";
import type { Strategy } from "../strategy";
import { type AliasTable, buildAliasTable, drawAlias, drawWeighted, newAliasTable } from "../weighted";

interface State {
  random: Random;
  table: AliasTable;
  weights: number[];
  /** Pool version the table was built for. */
  version: number;
}

function rebuild(state: State, pool: Pool): void {
  for (let k = 0; k < pool.candidate_count; k++) state.weights[k] = pool.static_weight[pool.candidates[k]];
  buildAliasTable(state.table, state.weights, pool.candidate_count);
  state.version = pool.version;
}

/** Weighted random: each node in proportion to its weight, whatever its load. */
export const random: Strategy<State> = {
  name: "random",
  options: {},
  create(pool, _options, source) {
    const state: State = { random: source, table: newAliasTable(), weights: [], version: -1 };
    if (pool.candidate_count > 0) rebuild(state, pool);
    return state;
  },
  pick(state, pool, candidates, count) {
    if (candidates !== pool.candidates) return drawWeighted(candidates, count, pool.static_weight, state.random);
    if (state.version !== pool.version) rebuild(state, pool);
    return candidates[drawAlias(state.table, state.random)];
  },
};
