import type { Pool } from "../pool";
import type { Strategy } from "../strategy";
import { newTurns, takeTurn, type Turns, updateTurns } from "../turns";

interface State {
  turns: Turns;
  /** Binary heap of the nodes that were candidates at the last flush, by `key`: the least first. */
  heap: number[];
  size: number;
  /** By node: `turns.due` when the node was put in its place; due times only grow, so a place is never too far down. */
  key: number[];
  /** Pool version the heap is for. */
  version: number;
  /** For nodes of weight 0: they take turns, too, when there is nothing else. */
  offset: number;
}

/** Turns skipped until the heap is given up: most of its nodes have gone out since the last flush. */
const SKIPS_MAX = 16;

/** Moves the node at a place down to where it belongs. */
function sink(state: State, from: number): void {
  const { heap, key, size } = state;
  const node = heap[from];
  const node_key = key[node];
  let at = from;
  let child = 2 * at + 1;
  while (child < size) {
    if (child + 1 < size && key[heap[child + 1]] < key[heap[child]]) child++;
    if (key[heap[child]] >= node_key) break;
    heap[at] = heap[child];
    at = child;
    child = 2 * at + 1;
  }
  heap[at] = node;
}

function rebuild(state: State, pool: Pool): void {
  updateTurns(state.turns, pool);
  const count = pool.candidate_count;
  state.size = count;
  for (let k = 0; k < count; k++) {
    const node = pool.candidates[k];
    state.heap[k] = node;
    state.key[node] = state.turns.due[node];
  }
  for (let at = Math.floor(count / 2) - 1; at >= 0; at--) sink(state, at);
  state.version = pool.version;
}

/**
 * Looks at the node whose place is first, and gives it its turn if the place is still right.
 * @returns the node, or -1 when another one may be due by now, or the node is out
 */
function takeFirst(state: State, pool: Pool): number {
  const node = state.heap[0];
  const due = state.turns.due[node];
  const is_due = state.key[node] === due;
  // A node that is out has its turn, too, or it would stay in the way.
  if (is_due) takeTurn(state.turns, node);
  state.key[node] = state.turns.due[node];
  sink(state, 0);
  return is_due && pool.candidate_of[node] === pool.version ? node : -1;
}

/** The slow way: nodes have gone out since the last flush, or had their turns in a list. */
function searchHeap(state: State, pool: Pool): number {
  for (let k = 0; k < SKIPS_MAX; k++) {
    if (state.turns.due[state.heap[0]] === Infinity) return -1;
    const node = takeFirst(state, pool);
    if (node >= 0) return node;
  }
  return -1;
}

/** The one due first, of a list used once. */
function pickFromList(state: State, candidates: number[], count: number): number {
  const due = state.turns.due;
  state.offset = state.offset + 1 < count ? state.offset + 1 : 0;
  let node = candidates[state.offset];
  for (let k = 0; k < count; k++) if (due[candidates[k]] < due[node]) node = candidates[k];
  takeTurn(state.turns, node);
  return node;
}

/**
 * Smooth weighted round robin: core/turns.ts has the order. A node of weight 5 is spread among the others instead of
 * being picked five times in a row.
 *
 * nginx (ngx_http_upstream_round_robin.c) raises the credit of every node at every pick; at 10,000 nodes that takes
 * longer than the request. A heap of due times takes log n.
 */
export const roundRobin: Strategy<State> = {
  name: "round_robin",
  options: {},
  create(pool, _options, random) {
    const state: State = { turns: newTurns(pool, random), heap: [], size: 0, key: [], version: -1, offset: 0 };
    for (let node = 0; node < pool.n; node++) state.key[node] = Infinity;
    return state;
  },
  prepare(state, pool) {
    if (state.version !== pool.version) rebuild(state, pool);
    return false;
  },
  pick(state, pool, candidates, count) {
    if (candidates === pool.candidates && state.size > 0) {
      if (state.turns.due[state.heap[0]] < Infinity) {
        let node = takeFirst(state, pool);
        if (node < 0) node = searchHeap(state, pool);
        if (node >= 0) return node;
      }
    }
    return pickFromList(state, candidates, count);
  },
};
