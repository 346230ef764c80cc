import { sortedKeys } from "../config/show";
import { keyPath, type Problems, report } from "../config/problems";
import { GOALS } from "../goals";
import type { Pool } from "../pool";
import type { Random } from "../random";
import { newScorer, NORMALISERS, type Scorer, scoreNodes, type SignalPart, SIGNALS } from "../scoring";
import type { Strategy } from "../strategy";
import { type AliasTable, buildAliasTable, drawAlias, newAliasTable } from "../weighted";

/** Nodes that are drawn from together: all, or those of about the same cost. */
interface Group {
  /** The first `count` are valid. */
  nodes: number[];
  weights: number[];
  count: number;
  table: AliasTable;
}

interface State {
  random: Random;
  scorer: Scorer;
  ceiling: number;
  /** Cheapest first. */
  groups: Group[];
  /** The cheapest group that has candidates. */
  first: number;
  /** By node: score, weight × score, and group. */
  scores: number[];
  share: number[];
  group_of: number[];
  /** Position of the candidate to score next. */
  cursor: number;
  version: number;
}

/** No score falls under this: with all at 0 every node is alike, and a bad one is seen to recover. */
const MIN_SCORE = 0.02;

/** Candidates scored per snapshot: of more, a part in turn, so that no worker is blocked for 2 ms. */
const SCORED_MAX = 1000;

/** Score of a node that has not had its turn yet. */
const UNSCORED = 0.5;

/** Costs told apart at most; of more, neighbours share a step. */
const GROUPS_MAX = 8;

/** Stands in for a share of 0. */
const MIN_SHARE = 1e-9;

/** Requests in flight per share, failures counted as in core/cost.ts: live. */
function liveLoad(state: State, pool: Pool, node: number): number {
  const success = pool.success[node];
  const share = state.share[node] * success * success * success;
  const in_flight = pool.in_flight[node] - pool.long_in_flight[node] + pool.others_in_flight[node] + 1;
  return in_flight / (share > MIN_SHARE ? share : MIN_SHARE);
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

/** Scores what is next in turn: all candidates, or of very many a part per snapshot. */
function scoreNext(state: State, pool: Pool): void {
  const count = pool.candidate_count;
  const from = state.cursor < count ? state.cursor : 0;
  const to = Math.min(count, from + SCORED_MAX);
  scoreNodes(state.scorer, pool, pool.candidates, count, from, to, state.scores);
  state.cursor = to < count ? to : 0;
}

function rebuild(state: State, pool: Pool): void {
  scoreNext(state, pool);
  const groups = state.groups;
  for (let g = 0; g < groups.length; g++) groups[g].count = 0;
  for (let k = 0; k < pool.candidate_count; k++) {
    const node = pool.candidates[k];
    const group = groups[state.group_of[node]];
    const success = pool.success[node];
    const share = pool.static_weight[node] * Math.max(MIN_SCORE, state.scores[node]);
    state.share[node] = share;
    group.nodes[group.count] = node;
    group.weights[group.count] = share * success * success * success;
    group.count++;
  }
  state.first = 0;
  while (groups[state.first].count === 0) state.first++;
  // The others are for what is over the ceiling, which is scanned for.
  const first = groups[state.first];
  buildAliasTable(first.table, first.weights, first.count);
  state.version = pool.version;
}

/** Of two drawn by share, the one with less live load under the ceiling; -1 when both are over it. */
function drawTwo(state: State, pool: Pool, group: Group): number {
  const first = group.nodes[drawAlias(group.table, state.random)];
  const second = group.nodes[drawAlias(group.table, state.random)];
  if (isOver(state, pool, first)) return isOver(state, pool, second) ? -1 : second;
  if (isOver(state, pool, second)) return first;
  return liveLoad(state, pool, second) < liveLoad(state, pool, first) ? second : first;
}

/** The slow way, and the one for lists: cheapest group under the ceiling, then least live load; else least live load. */
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

/** The normaliser `share` is for shares. Parameters as of ObjectCheck. */
function checkPart(record: Record<string, unknown>, _raw: unknown, path: string, problems: Problems): void {
  const name = record["name"] as string | undefined;
  if (record["normaliser"] !== "share" || name === undefined || SIGNALS[name].is_share) return;
  report(problems, keyPath(path, "normaliser"), `"share" takes signals that are shares (0..1); "${name}" is none`);
}

/**
 * By goal: weights from scores (core/scoring.ts) that are computed when a snapshot arrives, then two
 * choices drawn by them, the one with less live load. Not winner takes all: the best node of one snapshot
 * would get everything until the next.
 */
export const goal: Strategy<State> = {
  name: "goal",
  options: {
    goal: {
      kind: "enum",
      values: sortedKeys(GOALS),
      default: "latency",
      doc: "What to aim for.",
      reason: "what most people look at first",
    },
    signals: {
      kind: "list",
      non_empty: true,
      expected: 'a list of signals, { { name = "latency", weight = 0.7 }, ... },',
      doc: "What a node is scored by, instead of the goal's own signals.",
      of: {
        kind: "object",
        expected: 'a signal, { name = "latency", weight = 0.7 },',
        doc: "One signal.",
        check: checkPart,
        fields: {
          name: { kind: "enum", values: sortedKeys(SIGNALS), default: "latency", doc: "The signal." },
          weight: { kind: "number", min: 0.001, max: 1000, default: 1, doc: "Its part of the score." },
          normaliser: {
            kind: "enum",
            values: sortedKeys(NORMALISERS),
            default: "percentile",
            doc: "How it is brought to 0..1.",
            reason: "one node far off flattens nobody",
          },
          direction: { kind: "enum", values: ["high", "low"], doc: "Which end is good, instead of the signal's own." },
        },
      },
    },
    ceiling: {
      kind: "number",
      min: 0.01,
      max: 1,
      doc:
        "Share of a node's capacity in flight from which it gets nothing while another is under its own. " +
        "Default: 0.8 for `cost`, 0.7 for `stability`, else 1.",
    },
  },
  create(pool, options, random) {
    const preset = GOALS[options["goal"] as string];
    const state: State = {
      random,
      scorer: newScorer((options["signals"] as SignalPart[] | undefined) ?? preset.signals),
      ceiling: (options["ceiling"] as number | undefined) ?? preset.ceiling,
      groups: [],
      first: 0,
      scores: [],
      share: [],
      group_of: preset.by_cost ? groupsByCost(pool) : [],
      cursor: 0,
      version: -1,
    };
    for (let g = 0; g < (preset.by_cost ? GROUPS_MAX : 1); g++) {
      state.groups[g] = { nodes: [], weights: [], count: 0, table: newAliasTable() };
    }
    for (let node = 0; node < pool.n; node++) {
      state.scores[node] = UNSCORED;
      state.share[node] = pool.static_weight[node];
      if (!preset.by_cost) state.group_of[node] = 0;
    }
    if (pool.candidate_count > 0) rebuild(state, pool);
    return state;
  },
  pick(state, pool, candidates, count) {
    if (state.version !== pool.version) rebuild(state, pool);
    if (candidates !== pool.candidates) return scan(state, pool, candidates, count);
    const node = drawTwo(state, pool, state.groups[state.first]);
    return node >= 0 ? node : scan(state, pool, candidates, count);
  },
};
