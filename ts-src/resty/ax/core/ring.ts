import { type Chunked, read } from "./chunked";
import { HASH_RANGE } from "./hash";

/**
 * A ketama-style ring (Karger et al. 1997; Last.fm's libketama, 2007): every node owns many points on
 * the circle 0 .. 2^32-1, a key belongs to the first point clockwise. It depends on the nodes'
 * identities and on nothing else: no health, no weight, no order of the configuration, no seed. Weights
 * count when a key looks for its point (ring_walk.ts). Every worker and gateway has the same ring.
 *
 * Deviation from libketama: MurmurHash3 instead of MD5 (no MD5 in a pure core), and point k of a node
 * hashes 64 bits of its identity with k instead of the text "id-k": no string a point, and two nodes
 * share their points only when both halves collide.
 *
 * Written by its builder, read-only once done.
 */
export interface Ring {
  /** Points in circle order, each as hash · NODE_RANGE + node: one number, 8 bytes. After the last, Infinity. */
  points: Chunked;
  size: number;
  /** Where a key's search starts: entry b is the first point whose hash is at least b · HASH_RANGE / buckets. */
  directory: Chunked;
  buckets: number;
}

/** Node numbers fit in 20 bits, hashes in 32: together below 2^53, exact in a double. */
export const NODE_RANGE = 1048576;

/** Points a node has: libketama's and nginx's number; shares then differ by about 1/√160 = 8 %. */
export const POINTS_PER_NODE = 160;

/** @returns the hash of a point */
export function hashOf(point: number): number {
  return Math.floor(point / NODE_RANGE);
}

/** @param key 0 .. 2^32-1 @returns the bucket it falls in; never falls as keys rise */
export function bucketOf(ring: Ring, key: number): number {
  return Math.floor((key * ring.buckets) / HASH_RANGE);
}

/**
 * @param key 0 .. 2^32-1
 * @returns the position of the key's point: the first with its hash or a higher one, else the circle's first
 */
export function seek(ring: Ring, key: number): number {
  const points = ring.points;
  const target = key * NODE_RANGE;
  // "| 0": an integer for LuaJIT from the start, which keeps one register for it and not two.
  let at = read(ring.directory, bucketOf(ring, key)) | 0;
  while (read(points, at) < target) at++;
  return at < ring.size ? at : 0;
}

/**
 * @param start a position, 0 .. size-1
 * @param k 0 .. size-1
 * @returns the k-th point clockwise from a position
 */
export function pointAt(ring: Ring, start: number, k: number): number {
  const at = start + k;
  return read(ring.points, at < ring.size ? at : at - ring.size);
}

/**
 * @param start a position, 0 .. size-1
 * @param k 0 .. size-1
 * @returns the node number that owns the k-th point clockwise from a position
 */
export function nodeAt(ring: Ring, start: number, k: number): number {
  return pointAt(ring, start, k) % NODE_RANGE;
}
