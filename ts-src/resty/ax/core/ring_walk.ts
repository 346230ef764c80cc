import { fraction } from "./fraction";
import { HASH_RANGE, hashBytes, mixHashes } from "./hash";
import type { Pool } from "./pool";
import { hashOf, nodeAt, NODE_RANGE, pointAt, type Ring, seek } from "./ring";
import { newRingBuilder, type RingBuilder, stepRing } from "./ring_builder";

/**
 * The ring of one upstream in one worker, and who may be picked from it now. The ring holds every
 * configured node, usable or not; which of them are candidates is looked up at pick time, so a node
 * that goes out leaves its own keys to the next ones clockwise, takes back the same when it returns,
 * and no other key moves.
 *
 * Written by `prepareMembers` (flush) and, for lists, by picks; lives as long as the worker.
 */
export interface Members {
  ring: Ring;
  /** Until the ring is done; picks begin after that. */
  builder: RingBuilder | undefined;
  /** Shares by current weight, not only by ramp. */
  by_weight: boolean;
  /** Weights as configured: what a ramping node grows back to. */
  base_weight: number[];
  /** Hash of each node's identity: what draws by key and node start from. */
  identity: number[];
  /** By node: the part of the keys it takes, relative to the others. */
  share: number[];
  /** No node has more. */
  max_share: number;
  /** Sum of the shares of the pool's candidates, or of the list of one pick. */
  share_sum: number;
  /** Pool version the shares are for. */
  version: number;
  /** Who may be picked: marks[node] === mark. The pool's own marks, or `listed`. */
  marks: number[];
  mark: number;
  /** Marks of a list for one pick. Marks move, so that nothing has to be cleared. */
  listed: number[];
  listed_mark: number;
  whole_share_sum: number;
  /** seen[node] === seen_mark: the walk has met the node. */
  seen: number[];
  seen_mark: number;
  /** Position of the last key located. */
  start: number;
}

/**
 * Points looked at until the ring is given up: with one node in 200 usable, one walk in 170 gets so far.
 * Then all candidates are compared, which takes as long as there are candidates, few by then.
 */
const WALK_MAX = 1024;

/** Points looked at in one slice of building: well under a millisecond once compiled (spec/bench/ring.lua). */
const POINTS_PER_SLICE = 2000;

/** @param by_weight keys in proportion to the current static weights */
export function newMembers(pool: Pool, points_per_node: number, by_weight: boolean): Members {
  const counts: number[] = [];
  for (let node = 0; node < pool.n; node++) counts[node] = points_per_node;
  const builder = newRingBuilder(pool.ids, counts);
  const members: Members = {
    ring: builder.ring,
    builder,
    by_weight,
    base_weight: [],
    identity: [],
    share: [],
    max_share: 0,
    share_sum: 0,
    version: -1,
    marks: pool.candidate_of,
    mark: 0,
    listed: [],
    listed_mark: 0,
    whole_share_sum: 0,
    seen: [],
    seen_mark: 0,
    start: 0,
  };
  for (let node = 0; node < pool.n; node++) {
    members.base_weight[node] = pool.static_weight[node];
    members.identity[node] = fraction(hashBytes(pool.ids[node], 0));
    members.share[node] = 0;
    members.listed[node] = 0;
    members.seen[node] = 0;
  }
  return members;
}

function shareOf(members: Members, pool: Pool, node: number): number {
  const weight = pool.static_weight[node];
  if (members.by_weight) return weight;
  const full = members.base_weight[node];
  return full > 0 ? Math.min(1, weight / full) : 0;
}

/** Takes over current weights. */
function measureShares(members: Members, pool: Pool): void {
  let most = 0;
  for (let node = 0; node < pool.n; node++) {
    const share = shareOf(members, pool, node);
    members.share[node] = share;
    most = Math.max(most, share);
  }
  members.max_share = most;
  let sum = 0;
  for (let k = 0; k < pool.candidate_count; k++) sum += members.share[pool.candidates[k]];
  members.whole_share_sum = sum;
  members.version = pool.version;
}

/**
 * What a strategy with a ring does in its `prepare`: the ring, in slices, and current weights.
 * @returns whether there is more to do
 */
export function prepareMembers(members: Members, pool: Pool): boolean {
  if (members.builder !== undefined) {
    const ring = stepRing(members.builder, POINTS_PER_SLICE);
    if (ring === undefined) return true;
    members.ring = ring;
    members.builder = undefined;
  }
  if (members.version !== pool.version) measureShares(members, pool);
  return false;
}

/** Marks the nodes of a list for one pick. */
function admitList(members: Members, candidates: number[], count: number): void {
  const mark = members.listed_mark + 1;
  members.listed_mark = mark;
  let sum = 0;
  for (let k = 0; k < count; k++) {
    members.listed[candidates[k]] = mark;
    sum += members.share[candidates[k]];
  }
  members.marks = members.listed;
  members.mark = mark;
  members.share_sum = sum;
}

/** Notes who may be picked; costs nothing but for lists. */
export function admit(members: Members, pool: Pool, candidates: number[], count: number): void {
  if (candidates !== pool.candidates) {
    admitList(members, candidates, count);
    return;
  }
  members.marks = pool.candidate_of;
  members.mark = pool.version;
  members.share_sum = members.whole_share_sum;
}

/**
 * Finds a key's position on the ring: first step of every pick. It is left in `start`, and no loop is in
 * the same function as another: LuaJIT gives up traces from loop to loop that carry many values along.
 */
export function locate(members: Members, key: number): void {
  members.start = seek(members.ring, key);
}

/** Whether one request more keeps the node within its bound. */
function hasRoom(members: Members, pool: Pool, node: number, bound: number): boolean {
  return pool.in_flight[node] + pool.others_in_flight[node] < bound * members.share[node];
}

/** Highest draw by key and node (rendezvous hashing, Thaler & Ravishankar 1998): needs no ring, and no weights. */
function rendezvous(members: Members, candidates: number[], count: number, key: number): number {
  let node = candidates[0];
  let highest = -1;
  for (let k = 0; k < count; k++) {
    const score = mixHashes(key, members.identity[candidates[k]]);
    if (score > highest) {
      highest = score;
      node = candidates[k];
    }
  }
  return node;
}

/** The walk; -1 when nobody in reach has a share. Nodes without room are for when there is no other. */
function walk(members: Members, pool: Pool, key: number, bound: number): number {
  const { ring, start, marks, mark, share, max_share } = members;
  let node = -1;
  let nearest = Infinity;
  let full = -1;
  let nearest_full = Infinity;
  const end = ring.size < WALK_MAX ? ring.size : WALK_MAX;
  for (let k = 0; k < end; k++) {
    const point = pointAt(ring, start, k);
    const ahead = hashOf(point) - key;
    const distance = (ahead < 0 ? ahead + HASH_RANGE : ahead) + 0.5;
    // Farther points can only be farther, however heavy their nodes.
    if (distance >= nearest * max_share) break;
    const other = point % NODE_RANGE;
    if (marks[other] === mark) {
      const weighed = distance / share[other];
      if (weighed < nearest && hasRoom(members, pool, other, bound)) {
        nearest = weighed;
        node = other;
      } else if (weighed < nearest_full) {
        nearest_full = weighed;
        full = other;
      }
    }
  }
  return node >= 0 ? node : full;
}

/**
 * The node whose points are nearest clockwise from the key, distances divided by the nodes' shares; only nodes that may
 * be picked and have room, as long as there are any. `locate` and `admit` come first.
 *
 * With equal shares that is the first point. Otherwise it is the "linear method" of Schindelhauer & Schomaker (Weighted
 * Distributed Hash Tables, 2005): keys follow the shares, and a share that changes moves keys from or to its own node only.
 * The ring knows nothing of shares, so it stays as it is when they change. A walk takes about as many points as the
 * largest share is above the mean one.
 *
 * @param bound requests in flight, this one included, that a node may have per share; Infinity = no bound
 */
export function clockwise(
  members: Members,
  pool: Pool,
  candidates: number[],
  count: number,
  key: number,
  bound: number,
): number {
  // Nearly always, and without a loop.
  const first = nodeAt(members.ring, members.start, 0);
  const is_whole = members.share[first] >= members.max_share && members.max_share > 0;
  if (is_whole && members.marks[first] === members.mark && hasRoom(members, pool, first, bound)) return first;
  const node = members.max_share > 0 ? walk(members, pool, key, bound) : -1;
  return node >= 0 ? node : rendezvous(members, candidates, count, key);
}
