import { HASH_RANGE, mixHashes } from "../hash";
import { fadeKeys, type HotKeys, newHotKeys, noteKey } from "../hot_keys";
import { leastLoaded, loadOf } from "../load";
import type { Pool } from "../pool";
import { nodeAt } from "../ring";
import { pointsPerNode } from "../ring_options";
import { admit, clockwise, locate, type Members, newMembers, prepareMembers } from "../ring_walk";
import type { PickRequest, Strategy } from "../strategy";

interface State {
  members: Members;
  window_points: number;
  window_nodes: number;
  hot_key_share: number;
  hot: HotKeys;
  /** The window of the pick under way: its usable nodes, and what each drew (lowest wins). */
  nodes: number[];
  draws: number[];
  /** The node with the lowest draw. */
  own: number;
}

/** Points of the window: nodes with few points near the key still get their say. Over 100, hot users saw every node. */
const WINDOW_POINTS = 32;

/** Nodes of the window: a key's data are warm on few nodes, and one of three can be bad. */
const WINDOW_NODES = 3;

/** A key is worth a second node once it brings as much as a node of ten carries in all. */
const HOT_KEY_SHARE = 0.1;

/** Value of `hot_key_share` that spreads no key, not even one that is all of the traffic. */
const NEVER = 1;

/**
 * The node's draw for a key, whose weight is above 0: exponentially distributed with rate `weight`, so that the lowest of several
 * is each node's in proportion to its weight, and a weight that changes moves only keys from or to
 * its node (weighted rendezvous hashing: Schindelhauer & Schomaker 2005, Resch 2015).
 */
function drawFor(members: Members, node: number, key: number, weight: number): number {
  const uniform = (mixHashes(key, members.identity[node]) + 0.5) / HASH_RANGE;
  return -Math.log(uniform) / weight;
}

/**
 * Fills the window: the first few distinct nodes clockwise, usable or not, so that a node that goes out
 * brings nobody in whom the keys of the others could prefer.
 * @returns how many there are
 */
function fillWindow(state: State): number {
  const { members, nodes } = state;
  const { ring, start, seen } = members;
  const seen_mark = members.seen_mark + 1;
  members.seen_mark = seen_mark;
  const end = state.window_points < ring.size ? state.window_points : ring.size;
  let met = 0;
  for (let k = 0; k < end; k++) {
    const node = nodeAt(ring, start, k);
    if (seen[node] !== seen_mark) {
      seen[node] = seen_mark;
      nodes[met] = node;
      met++;
      if (met >= state.window_nodes) break;
    }
  }
  return met;
}

/**
 * Draws for the usable nodes of the window, drops the others, and notes who is lowest.
 * @param met how many nodes the window has
 * @returns how many of them are usable
 */
function drawAll(state: State, pool: Pool, met: number, key: number): number {
  const { members, nodes } = state;
  let usable = 0;
  let least = Infinity;
  for (let k = 0; k < met; k++) {
    const node = nodes[k];
    if (members.marks[node] === members.mark && pool.weight[node] > 0) {
      const drawn = drawFor(members, node, key, pool.weight[node]);
      nodes[usable] = node;
      state.draws[usable] = drawn;
      usable++;
      if (drawn < least) {
        least = drawn;
        state.own = node;
      }
    }
  }
  return usable;
}

/** The lowest draw. @returns its position in the window */
function lowest(draws: number[], usable: number): number {
  let at = 0;
  let least = draws[0];
  for (let k = 1; k < usable; k++) {
    if (draws[k] < least) {
      least = draws[k];
      at = k;
    }
  }
  return at;
}

/** The least loaded of the `spread` lowest draws; the lower draw where loads are equal. */
function spreadHot(state: State, pool: Pool, usable: number, spread: number): number {
  const { nodes, draws } = state;
  let node = -1;
  let least = Infinity;
  for (let k = 0; k < spread; k++) {
    const at = lowest(draws, usable);
    draws[at] = Infinity;
    const load = loadOf(pool, pool.weight, nodes[at]);
    if (load < least) {
      least = load;
      node = nodes[at];
    }
  }
  return node;
}

function pick(state: State, pool: Pool, candidates: number[], count: number, request: PickRequest): number {
  const key = request.key;
  if (request.tries > 0) return leastLoaded(pool, pool.weight, candidates, count, key % count);
  const members = state.members;
  locate(members, key);
  admit(members, pool, candidates, count);
  const share = noteKey(state.hot, key);
  const usable = drawAll(state, pool, fillWindow(state), key);
  if (usable === 0) return clockwise(members, pool, candidates, count, key, Infinity);
  if (share < state.hot_key_share || state.hot_key_share >= NEVER || usable === 1) return state.own;
  const wanted = share < 2 * state.hot_key_share ? 2 : 3;
  return spreadHot(state, pool, usable, wanted < usable ? wanted : usable);
}

/**
 * Affinity and adaptation together: the key leads to a window of a few nodes on the ring, and draws one
 * of them in proportion to their current weights. Same nodes and same weights: the same node for the
 * same key on every worker and gateway. Only a key that is a large part of the traffic is spread over
 * two or three nodes, by load. A retry leaves the ring.
 */
export const affinity: Strategy<State> = {
  name: "affinity",
  uses_key: true,
  options: {
    window_points: {
      kind: "number",
      integer: true,
      min: 1,
      max: 128,
      default: WINDOW_POINTS,
      doc: "How many points of the ring, from the key's on, are looked at for nodes.",
      reason: "enough to meet three nodes even of a small upstream; bounded, so that every pick is short",
    },
    window_nodes: {
      kind: "number",
      integer: true,
      min: 1,
      max: 8,
      default: WINDOW_NODES,
      doc: "How many different nodes the key may go to, as weights change. 1 = as consistent_hash.",
      reason: "three: one of them can be bad, and the other two need not take all of it alone",
    },
    hot_key_share: {
      kind: "number",
      min: 0.01,
      max: 1,
      default: HOT_KEY_SHARE,
      doc:
        "A key with at least this share (0..1) of a worker's recent requests is hot: two nodes of its window serve it, " +
        "three from twice the share on, the least loaded first. 1 = never.",
      reason: "10 %: as much as one node of ten carries in all; with far more nodes, lower it to a node's share",
    },
    points_per_node: pointsPerNode,
  },
  create(pool, options) {
    return {
      members: newMembers(pool, options["points_per_node"] as number, false),
      window_points: options["window_points"] as number,
      window_nodes: options["window_nodes"] as number,
      hot_key_share: options["hot_key_share"] as number,
      hot: newHotKeys(),
      nodes: [],
      draws: [],
      own: -1,
    };
  },
  prepare(state, pool) {
    fadeKeys(state.hot);
    return prepareMembers(state.members, pool);
  },
  pick,
};
