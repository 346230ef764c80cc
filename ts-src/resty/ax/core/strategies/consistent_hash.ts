import type { Pool } from "../pool";
import { pointsPerNode } from "../ring_options";
import { admit, clockwise, locate, type Members, newMembers, prepareMembers } from "../ring_walk";
import type { PickRequest, Strategy } from "../strategy";

interface State {
  members: Members;
  /** 0 = no bound. */
  load_factor: number;
  /** Requests in flight at all candidates, and when they were summed, monotonic ms. */
  in_flight: number;
  summed_at_ms: number;
}

/** Up to so many candidates the sum is taken at every pick; above, once per millisecond of the clock. */
const EXACT_SUM_MAX = 64;

function sumInFlight(state: State, pool: Pool, candidates: number[], count: number, now_ms: number): number {
  if (count > EXACT_SUM_MAX && state.summed_at_ms === now_ms) return state.in_flight;
  let sum = 0;
  for (let k = 0; k < count; k++) sum += pool.in_flight[candidates[k]] + pool.others_in_flight[candidates[k]];
  state.in_flight = sum;
  state.summed_at_ms = now_ms;
  return sum;
}

/** @returns requests that a node may have in flight per share */
function boundOf(state: State, pool: Pool, candidates: number[], count: number, request: PickRequest): number {
  const shares = state.members.share_sum;
  const in_flight = sumInFlight(state, pool, candidates, count, request.now_ms) + 1;
  return shares > 0 ? (state.load_factor * in_flight) / shares : Infinity;
}

/**
 * Ketama-style consistent hashing: the request's key decides, whatever the load; a node that is out is
 * skipped, and its keys return to it when it does. With `load_factor`, consistent hashing with bounded
 * loads (Mirrokni, Thorup, Zadimoghaddam 2016; HAProxy's hash-balance-factor): a node that has more
 * than its share of the requests in flight times the factor is skipped too.
 */
export const consistentHash: Strategy<State> = {
  name: "consistent_hash",
  uses_key: true,
  options: {
    points_per_node: pointsPerNode,
    points_by_weight: {
      kind: "boolean",
      default: false,
      doc:
        "Nodes get keys in proportion to their base weights. Changing one then moves keys from or to its node, " +
        "and no others.",
      reason: "without it, no edit of a weight moves a key",
    },
    load_factor: {
      kind: "number",
      min: 1.01,
      max: 100,
      or_zero: true,
      default: 0,
      doc:
        "A node that has more than so many times its share of the requests in flight is skipped for new ones; " +
        "0 = no bound. 1.25 is usual: no node over 1.25 times the mean. At 1 and below there would be no room anywhere.",
      reason: "the same key always goes to the same node; bounds give that up under load",
    },
  },
  create(pool, options) {
    return {
      members: newMembers(pool, options["points_per_node"] as number, options["points_by_weight"] === true),
      load_factor: options["load_factor"] as number,
      in_flight: 0,
      summed_at_ms: -1,
    };
  },
  prepare(state, pool) {
    return prepareMembers(state.members, pool);
  },
  pick(state, pool, candidates, count, request) {
    const members = state.members;
    locate(members, request.key);
    admit(members, pool, candidates, count);
    const bound = state.load_factor > 0 ? boundOf(state, pool, candidates, count, request) : Infinity;
    return clockwise(members, pool, candidates, count, request.key, bound);
  },
};
