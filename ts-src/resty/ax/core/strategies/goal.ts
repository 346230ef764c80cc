import { goalOptions } from "../goal_options";
import { GOALS } from "../goals";
import type { Pool } from "../pool";
import { draw, type Random } from "../random";
import { closeNodeTable, drawNode, newNodeTable, type NodeTable } from "../node_table";
import { measureSignals, newScorer, type Scorer, scoreNodes, type SignalPart } from "../scoring";
import type { Strategy } from "../strategy";

interface State {
  random: Random;
  scorer: Scorer;
  ceiling: number;
  /** The candidates of the least cost: all of them, but for the goal `cost`. */
  cheapest: NodeTable;
  /** By node: score, weight × score, and group. */
  scores: number[];
  share: number[];
  group_of: number[];
  /** Position of the candidate to score next; 0 = between two snapshots. */
  cursor: number;
  /** Version of the pool that is being scored. */
  scoring_version: number;
}

/** No score falls under this: with all at 0 every node is alike, and a bad one is seen to recover. */
const MIN_SCORE = 0.02;

/** Candidates scored in one slice: with three signals about half a millisecond. */
const SLICE = 1000;

/** Score of a node that has not been scored yet: it came back since the last flush. */
const UNSCORED = 0.5;

/** Costs told apart at most; of more, neighbours share a step. */
const GROUPS_MAX = 8;

/** Stands in for a share of 0. */
const MIN_SHARE = 1e-9;

/** Share, failures counted as in core/cost.ts: live. */
function liveShare(state: State, pool: Pool, node: number): number {
  const success = pool.success[node];
  const share = state.share[node] * success * success * success;
  return share > MIN_SHARE ? share : MIN_SHARE;
}

/** Requests in flight per live share. */
function liveLoad(state: State, pool: Pool, node: number): number {
  const in_flight = pool.in_flight[node] - pool.long_in_flight[node] + pool.others_in_flight[node] + 1;
  return in_flight / liveShare(state, pool, node);
}

function isOver(state: State, pool: Pool, node: number): boolean {
  return pool.in_flight[node] + pool.others_in_flight[node] >= state.ceiling * pool.capacity[node];
}

/** Every node's group, for as long as the worker lives: costs are configuration. */
function groupsByCost(pool: Pool): number[] {
  const steps: number[] = [];
  const known: Record<number, boolean | undefined> = {};
  for (let node = 0; node < pool.n; node++) {
    const price = pool.price[node];
    if (known[price] === undefined) steps.push(price);
    known[price] = true;
  }
  steps.sort((a, b) => a - b);
  const group_by_cost: Record<number, number> = {};
  const groups = Math.min(GROUPS_MAX, steps.length);
  for (let k = 0; k < steps.length; k++) group_by_cost[steps[k]] = Math.floor((k * groups) / steps.length);
  const group_of: number[] = [];
  for (let node = 0; node < pool.n; node++) group_of[node] = group_by_cost[pool.price[node]];
  return group_of;
}

/** The least cost group among the candidates. */
function cheapestGroup(state: State, pool: Pool): number {
  let least = Infinity;
  for (let k = 0; k < pool.candidate_count; k++) least = Math.min(least, state.group_of[pool.candidates[k]]);
  return least;
}

/** From scores to shares, and to the table of the cheapest nodes; dearer ones are scanned for. */
function rebuild(state: State, pool: Pool): void {
  const group = cheapestGroup(state, pool);
  const { nodes, weights } = state.cheapest;
  let count = 0;
  for (let k = 0; k < pool.candidate_count; k++) {
    const node = pool.candidates[k];
    const success = pool.success[node];
    const share = pool.static_weight[node] * Math.max(MIN_SCORE, state.scores[node]);
    state.share[node] = share;
    if (state.group_of[node] === group) {
      nodes[count] = node;
      weights[count] = share * success * success * success;
      count++;
    }
  }
  closeNodeTable(state.cheapest, count, state.scoring_version);
}

/** Scores the next slice; after the last one, the new scores come into force. */
function prepare(state: State, pool: Pool): boolean {
  const count = pool.candidate_count;
  if (state.cursor === 0) {
    if (state.cheapest.version === pool.version) return false;
    state.scoring_version = pool.version;
    measureSignals(state.scorer, pool, pool.candidates, count);
  }
  const to = Math.min(count, state.cursor + SLICE);
  scoreNodes(state.scorer, pool, pool.candidates, state.cursor, to, state.scores);
  state.cursor = to < count ? to : 0;
  if (to < count) return true;
  rebuild(state, pool);
  return false;
}

/** Of two drawn by share, the one with less live load under the ceiling; -1 when there is none. */
function drawTwo(state: State, pool: Pool): number {
  const first = drawNode(state.cheapest, pool, state.random);
  const second = drawNode(state.cheapest, pool, state.random);
  if (first < 0 || second < 0) return -1;
  if (isOver(state, pool, first)) return isOver(state, pool, second) ? -1 : second;
  if (isOver(state, pool, second)) return first;
  return liveLoad(state, pool, second) < liveLoad(state, pool, first) ? second : first;
}

/** What a node of a list is drawn by: 0 unless it is of the group, and under the ceiling. */
function drawnBy(state: State, pool: Pool, node: number, group: number): number {
  return state.group_of[node] === group && !isOver(state, pool, node) ? liveShare(state, pool, node) : 0;
}

/** @param total what the nodes of the group are drawn by, in all */
function drawListed(
  state: State,
  pool: Pool,
  candidates: number[],
  count: number,
  group: number,
  total: number,
): number {
  let left = draw(state.random) * total;
  let node = -1;
  for (let k = 0; k < count; k++) {
    const by = drawnBy(state, pool, candidates[k], group);
    if (by > 0) {
      node = candidates[k];
      left -= by;
      if (left < 0) return node;
    }
  }
  return node;
}

/** The least cost group of a list that has a node under the ceiling; GROUPS_MAX = none. */
function groupUnder(state: State, pool: Pool, candidates: number[], count: number): number {
  let least = GROUPS_MAX;
  for (let k = 0; k < count; k++) {
    const group = state.group_of[candidates[k]];
    if (group < least && !isOver(state, pool, candidates[k])) least = group;
  }
  return least;
}

/** As `drawTwo`, from a list used once: there is no table of it. */
function drawTwoListed(state: State, pool: Pool, candidates: number[], count: number): number {
  const group = groupUnder(state, pool, candidates, count);
  if (group === GROUPS_MAX) return -1;
  let total = 0;
  for (let k = 0; k < count; k++) total += drawnBy(state, pool, candidates[k], group);
  const first = drawListed(state, pool, candidates, count, group, total);
  const second = drawListed(state, pool, candidates, count, group, total);
  return liveLoad(state, pool, second) < liveLoad(state, pool, first) ? second : first;
}

/** The slow way: cheapest group under the ceiling, then least live load; else least live load. */
function scan(state: State, pool: Pool, candidates: number[], count: number): number {
  let node = candidates[0];
  let least_group = Infinity;
  let least = Infinity;
  for (let k = 0; k < count; k++) {
    const other = candidates[k];
    const group = isOver(state, pool, other) ? GROUPS_MAX : state.group_of[other];
    const load = liveLoad(state, pool, other);
    if (group < least_group || (group === least_group && load < least)) {
      node = other;
      least_group = group;
      least = load;
    }
  }
  return node;
}

/**
 * By goal: weights from scores (core/scoring.ts) that are computed when a snapshot arrives, then two
 * choices drawn by them, the one with less live load. Not winner takes all: the best node of one snapshot
 * would get everything until the next.
 */
export const goal: Strategy<State> = {
  name: "goal",
  options: goalOptions,
  create(pool, options, random) {
    const preset = GOALS[options["goal"] as string];
    const state: State = {
      random,
      scorer: newScorer((options["signals"] as SignalPart[] | undefined) ?? preset.signals),
      ceiling: (options["ceiling"] as number | undefined) ?? preset.ceiling,
      cheapest: newNodeTable(),
      scores: [],
      share: [],
      group_of: preset.by_cost ? groupsByCost(pool) : [],
      cursor: 0,
      scoring_version: -1,
    };
    for (let node = 0; node < pool.n; node++) {
      state.scores[node] = UNSCORED;
      state.share[node] = pool.static_weight[node];
      if (!preset.by_cost) state.group_of[node] = 0;
    }
    return state;
  },
  prepare,
  pick(state, pool, candidates, count) {
    const is_list = candidates !== pool.candidates;
    const node = is_list ? drawTwoListed(state, pool, candidates, count) : drawTwo(state, pool);
    return node >= 0 ? node : scan(state, pool, candidates, count);
  },
};
