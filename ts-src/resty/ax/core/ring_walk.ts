import { HASH_RANGE, hashBytes, mixHashes } from "./hash";
import type { Pool } from "./pool";
import { buildRing, nodeAt, pointCounts, type Ring, seek } from "./ring";

/**
 * The ring of one upstream in one worker, and who may be picked from it now. The ring holds every
 * configured node, usable or not; which of them are candidates is looked up at pick time, so a node
 * that goes out leaves its own keys to the next ones clockwise, takes back the same when it returns,
 * and no other key moves.
 *
 * Written by the strategy that made it, at picks; lives as long as the worker.
 */
export interface Members {
  ring: Ring;
  /** Weights as configured: what a ramping node grows back to. */
  base_weight: number[];
  /** Hash of each node's identity: what draws by key and node start from. */
  identity: number[];
  /** allowed[node] === allowed_mark: the node may be picked. Marks move, so that nothing has to be cleared. */
  allowed: number[];
  allowed_mark: number;
  allowed_count: number;
  /** Sum of the weights of the allowed nodes. */
  allowed_weight: number;
  /** Pool version the marks are for; -1 = a list for one pick only. */
  version: number;
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

/** @param by_weight points in proportion to the base weights */
export function newMembers(pool: Pool, points_per_node: number, by_weight: boolean): Members {
  const members: Members = {
    ring: buildRing(pool.ids, pointCounts(pool.n, pool.static_weight, points_per_node, by_weight)),
    base_weight: [],
    identity: [],
    allowed: [],
    allowed_mark: 0,
    allowed_count: 0,
    allowed_weight: 0,
    version: -1,
    seen: [],
    seen_mark: 0,
    start: 0,
  };
  for (let node = 0; node < pool.n; node++) {
    members.base_weight[node] = pool.static_weight[node];
    members.identity[node] = hashBytes(pool.ids[node], 0);
    members.allowed[node] = 0;
    members.seen[node] = 0;
  }
  return members;
}

/**
 * Marks who may be picked: the candidates with a weight above 0, all of them when none has one.
 * Costs nothing while candidates and weights stay.
 * @param weights pool.weight or pool.static_weight; the same for all calls
 */
export function admit(members: Members, pool: Pool, weights: number[], candidates: number[], count: number): void {
  const whole = candidates === pool.candidates;
  if (whole && members.version === pool.version) return;
  members.version = whole ? pool.version : -1;
  members.allowed_mark++;
  const { allowed, allowed_mark } = members;
  let admitted = 0;
  let total = 0;
  for (let k = 0; k < count; k++) {
    const node = candidates[k];
    if (weights[node] > 0) {
      allowed[node] = allowed_mark;
      total += weights[node];
      admitted++;
    }
  }
  if (admitted === 0) {
    for (let k = 0; k < count; k++) allowed[candidates[k]] = allowed_mark;
    admitted = count;
  }
  members.allowed_count = admitted;
  members.allowed_weight = total;
}

/**
 * Finds a key's position on the ring: first step of every pick. It is left in `start`, and no loop is in
 * the same function as another: LuaJIT gives up traces from loop to loop that carry many values along.
 */
export function locate(members: Members, key: number): void {
  members.start = seek(members.ring, key);
}

/**
 * A node on its way back takes its keys one by one: those whose draw is below its share of its weight.
 * The draw belongs to key and node, so that a key that has come back stays.
 */
function isRampedIn(members: Members, pool: Pool, node: number, key: number): boolean {
  const full = members.base_weight[node];
  const weight = pool.static_weight[node];
  return weight >= full || mixHashes(key, members.identity[node]) < (weight / full) * HASH_RANGE;
}

/** Whether one request more keeps the node within its bound. */
function hasRoom(pool: Pool, node: number, bound: number): boolean {
  return pool.in_flight[node] + pool.others_in_flight[node] < bound;
}

/** Highest draw by key and node (rendezvous hashing, Thaler & Ravishankar 1998): needs no ring. */
function rendezvous(members: Members, candidates: number[], count: number, key: number): number {
  let node = candidates[0];
  let highest = -1;
  for (let k = 0; k < count; k++) {
    const other = candidates[k];
    if (members.allowed[other] === members.allowed_mark) {
      const score = mixHashes(key, members.identity[other]);
      if (score > highest) {
        highest = score;
        node = other;
      }
    }
  }
  return node;
}

/**
 * The first node clockwise from the key that may be picked, has taken the key back if it is ramping,
 * and has room; the first that may be picked when there is no such node. `locate` and
 * `admit` come first.
 *
 * @param bound requests in flight, this one included, that a node may have at `unit` weight; Infinity = no bound
 * @param by_weight bounds in proportion to pool.static_weight
 */
export function clockwise(
  members: Members,
  pool: Pool,
  candidates: number[],
  count: number,
  key: number,
  bound: number,
  by_weight: boolean,
): number {
  const { ring, start, allowed, allowed_mark, seen } = members;
  const seen_mark = members.seen_mark + 1;
  members.seen_mark = seen_mark;
  let first = -1;
  let refused = 0;
  const end = ring.size < WALK_MAX ? ring.size : WALK_MAX;
  for (let k = 0; k < end; k++) {
    const node = nodeAt(ring, start, k);
    if (allowed[node] === allowed_mark && seen[node] !== seen_mark) {
      const limit = by_weight ? bound * pool.static_weight[node] : bound;
      if (isRampedIn(members, pool, node, key) && hasRoom(pool, node, limit)) return node;
      seen[node] = seen_mark;
      if (first < 0) first = node;
      refused++;
      if (refused >= members.allowed_count) return first;
    }
  }
  return first >= 0 ? first : rendezvous(members, candidates, count, key);
}
