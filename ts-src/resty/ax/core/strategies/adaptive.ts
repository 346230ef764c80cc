import { cheapest, cost } from "../cost";
import type { Pool } from "../pool";
import type { Random } from "../random";
import type { PickRequest, Strategy } from "../strategy";
import { type AliasTable, buildAliasTable, drawAlias, newAliasTable } from "../weighted";

interface State {
  random: Random;
  revisit_ms: number;
  revisit_every: number;
  scan_limit: number;
  sample: number;
  /** Where the scan starts: moves with every pick, so that ties take turns. */
  offset: number;
  /** Picks since an idle node was last revisited. */
  since_revisit: number;
  table: AliasTable;
  weights: number[];
  version: number;
}

/** A node that fails is revisited this much less often at most: exploring it costs users' requests. */
const MAX_REVISIT_FACTOR = 30;

/** Picks between two looks for overdue nodes while none is: the look costs as much as a pick. */
const RECHECK_PICKS = 10;

/**
 * The idle candidate unpicked for longest, if it is overdue: without a request now and then, a node
 * that was slow once would stay "slow" for ever, for want of news. Looks at `scan_limit` candidates
 * from the moving offset on.
 * @returns a node number, or -1
 */
function overdue(state: State, pool: Pool, candidates: number[], count: number, now_ms: number): number {
  let node = -1;
  let longest = 1;
  const window = count < state.scan_limit ? count : state.scan_limit;
  let at = state.offset;
  for (let k = 0; k < window; k++) {
    const other = candidates[at];
    at++;
    if (at >= count) at = 0;
    if (pool.in_flight[other] + pool.others_in_flight[other] === 0 && pool.weight[other] > 0) {
      const success = pool.success[other];
      let factor = 1 / (success * success * success);
      if (factor > MAX_REVISIT_FACTOR) factor = MAX_REVISIT_FACTOR;
      const late = (now_ms - pool.last_pick_ms[other]) / (state.revisit_ms * factor);
      if (late > longest) {
        longest = late;
        node = other;
      }
    }
  }
  return node;
}

function rebuild(state: State, pool: Pool): void {
  for (let k = 0; k < pool.candidate_count; k++) state.weights[k] = pool.weight[pool.candidates[k]];
  buildAliasTable(state.table, state.weights, pool.candidate_count);
  state.version = pool.version;
}

/** The least cost among a few candidates drawn by weight: for pools too large to look at whole. */
function sampled(state: State, pool: Pool, candidates: number[], now_ms: number): number {
  if (state.version !== pool.version) rebuild(state, pool);
  let node = candidates[drawAlias(state.table, state.random)];
  let least = cost(pool, node, now_ms);
  for (let k = 1; k < state.sample; k++) {
    const other = candidates[drawAlias(state.table, state.random)];
    const other_cost = cost(pool, other, now_ms);
    if (other_cost < least) {
      least = other_cost;
      node = other;
    }
  }
  return node;
}

function pick(state: State, pool: Pool, candidates: number[], count: number, request: PickRequest): number {
  let offset = state.offset + 1;
  if (offset >= count) offset = 0;
  state.offset = offset;
  state.since_revisit++;
  // Exploring is for first tries: a retry has waited long enough.
  if (state.since_revisit >= state.revisit_every && request.tries === 0) {
    const node = overdue(state, pool, candidates, count, request.now_ms);
    if (node >= 0) {
      state.since_revisit = 0;
      return node;
    }
    // Nothing is overdue: look again a little later, not at every pick.
    state.since_revisit = state.revisit_every - RECHECK_PICKS;
  }
  if (count > state.scan_limit && candidates === pool.candidates) {
    return sampled(state, pool, candidates, request.now_ms);
  }
  return cheapest(pool, candidates, count, offset, request.now_ms);
}

/** The default: live cost (core/cost.ts) over the collector's weights. */
export const adaptive: Strategy<State> = {
  name: "adaptive",
  options: {
    revisit_ms: {
      kind: "number",
      min: 50,
      max: 60000,
      default: 1000,
      doc:
        "An idle node gets a request of this worker after so long, to learn whether it is still slow. " +
        "1 s: a recovered node is noticed within seconds.",
    },
    revisit_every: {
      kind: "number",
      integer: true,
      min: 1,
      max: 1000000,
      default: 250,
      doc:
        "At most one pick in so many is such a revisit, so that a slow node cannot show in the P99 of a quiet " +
        "upstream: 250 is 0.4 %.",
    },
    scan_limit: {
      kind: "number",
      integer: true,
      min: 1,
      max: 10000,
      default: 64,
      doc:
        "Up to so many usable nodes the cost of every one is compared; above it, of a few drawn by weight. " +
        "64 nodes take about a microsecond.",
    },
    sample: {
      kind: "number",
      integer: true,
      min: 2,
      max: 64,
      default: 6,
      doc: "How many nodes are drawn and compared above `scan_limit`.",
    },
  },
  create(pool, options, random) {
    return {
      random,
      revisit_ms: options["revisit_ms"] as number,
      revisit_every: options["revisit_every"] as number,
      scan_limit: options["scan_limit"] as number,
      sample: options["sample"] as number,
      offset: pool.n > 0 ? random.state % pool.n : 0,
      since_revisit: 0,
      table: newAliasTable(),
      weights: [],
      version: -1,
    };
  },
  pick,
};
