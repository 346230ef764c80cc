import { type Chunked, read, write } from "./chunked";
import { HASH_RANGE, hashBytes, hashPair } from "./hash";

/**
 * A ketama-style ring (Karger et al. 1997; Last.fm's libketama, 2007): every node owns many points on
 * the circle 0 .. 2^32-1, a key belongs to the first point clockwise. It depends on the nodes'
 * identities (and base weights, where asked) and on nothing else: no health, no current weight, no
 * order of the configuration, no seed. Every worker and gateway has the same ring.
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

/** Points a node has at weight 1: libketama's and nginx's number; shares then differ by about 1/√160 = 8 %. */
export const POINTS_PER_NODE = 160;

/** Seed of the second half of a node's identity. Any constant other than 0; it must never change. */
const SECOND_SEED = 0x9747b28c;

/** Points to a directory entry: a search looks at this many on average, for an eighth of memory on top. */
const POINTS_PER_BUCKET = 4;

/** Sorting looks at 11 bits of the hash a pass: what a pass divides a point by. Three passes cover 32 bits. */
const RADIX = 2048;
const PASS_DIVISORS = [NODE_RANGE, NODE_RANGE * RADIX, NODE_RANGE * RADIX * RADIX];

const enum Stage {
  Points,
  Count,
  Offsets,
  Move,
  Ties,
  Directory,
  Done,
}

/** A ring under construction: state of a loop that stops and goes on. */
export interface RingBuilder {
  ring: Ring;
  ids: string[];
  /** How many points each node gets. */
  counts: number[];
  stage: Stage;
  /** Where the stage goes on. */
  at: number;
  /** Stage Points: the node in turn, its two identity hashes, and its next point. */
  node: number;
  first: number;
  second: number;
  point: number;
  /** Sorting: pass number, where the points go, and counts or offsets by digit. */
  pass: number;
  other: Chunked;
  digits: number[];
  /** Stage Directory: the next bucket. */
  bucket: number;
}

/**
 * How many points each node gets.
 * @param base_weights as configured; read only when `by_weight`
 * @param by_weight in proportion to the base weight; the unit is the power of two below the mean weight,
 *   so that editing one node's weight leaves the others' points where they are (but for the edits that
 *   move the mean past a power of two), and a ring has at most twice `points_per_node` points a node
 */
export function pointCounts(n: number, base_weights: number[], points_per_node: number, by_weight: boolean): number[] {
  let total = 0;
  for (let node = 0; node < n; node++) total += base_weights[node];
  let unit = 1;
  while (unit * 2 * n <= total) unit *= 2;
  while (total > 0 && unit * n > total) unit /= 2;
  const counts: number[] = [];
  for (let node = 0; node < n; node++) {
    const scaled =
      by_weight && total > 0 ? Math.floor((points_per_node * base_weights[node]) / unit + 0.5) : points_per_node;
    // Weight 0 means "only when nothing else is left": it needs a point to be found at all.
    counts[node] = scaled > 1 ? scaled : 1;
  }
  return counts;
}

/**
 * Starts a ring; `stepRing` builds it.
 * @param ids identity of every node, by node number; fewer than NODE_RANGE
 * @param counts points of every node, at least 1 each
 */
export function newRingBuilder(ids: string[], counts: number[]): RingBuilder {
  const builder: RingBuilder = {
    ring: { points: [], size: 0, directory: [], buckets: 1 },
    ids,
    counts,
    stage: Stage.Points,
    at: 0,
    node: 0,
    first: 0,
    second: 0,
    point: 0,
    pass: 0,
    other: [],
    digits: [],
    bucket: 0,
  };
  for (let digit = 0; digit < RADIX; digit++) builder.digits[digit] = 0;
  return builder;
}

function enter(builder: RingBuilder, stage: Stage): void {
  builder.stage = stage;
  builder.at = 0;
}

/** Makes points, node by node. */
function makePoints(builder: RingBuilder, budget: number): void {
  const points = builder.ring.points;
  let size = builder.ring.size;
  for (let k = 0; k < budget; k++) {
    if (builder.node >= builder.ids.length) {
      enter(builder, Stage.Count);
      break;
    }
    if (builder.point === 0) {
      builder.first = hashBytes(builder.ids[builder.node], 0);
      builder.second = hashBytes(builder.ids[builder.node], SECOND_SEED);
    }
    write(builder.other, size, 0);
    write(points, size, hashPair(builder.second, builder.point, builder.first) * NODE_RANGE + builder.node);
    size++;
    builder.point++;
    if (builder.point >= builder.counts[builder.node]) {
      builder.point = 0;
      builder.node++;
    }
  }
  builder.ring.size = size;
}

/** The hash of a point. */
function hashOf(point: number): number {
  return Math.floor(point / NODE_RANGE);
}

/** Sorting, first half of a pass: how often each digit occurs. */
function countDigits(builder: RingBuilder, budget: number): void {
  const { digits } = builder;
  const points = builder.ring.points;
  const divisor = PASS_DIVISORS[builder.pass];
  const end = Math.min(builder.at + budget, builder.ring.size);
  for (let k = builder.at; k < end; k++) {
    const digit = Math.floor(read(points, k) / divisor) % RADIX;
    digits[digit]++;
  }
  builder.at = end;
  if (end === builder.ring.size) enter(builder, Stage.Offsets);
}

/** Sorting: from counts of digits to where the first point of each digit goes. */
function sumDigits(builder: RingBuilder): void {
  const { digits } = builder;
  let sum = 0;
  for (let digit = 0; digit < RADIX; digit++) {
    const count = digits[digit];
    digits[digit] = sum;
    sum += count;
  }
  enter(builder, Stage.Move);
}

/** Sorting, second half of a pass: moves the points, those of equal digits in the order they had. */
function movePoints(builder: RingBuilder, budget: number): void {
  const { digits, other } = builder;
  const ring = builder.ring;
  const points = ring.points;
  const divisor = PASS_DIVISORS[builder.pass];
  const end = Math.min(builder.at + budget, ring.size);
  for (let k = builder.at; k < end; k++) {
    const point = read(points, k);
    const digit = Math.floor(point / divisor) % RADIX;
    const to = digits[digit];
    digits[digit] = to + 1;
    write(other, to, point);
  }
  builder.at = end;
  if (end < ring.size) return;
  ring.points = other;
  builder.other = points;
  builder.pass++;
  if (builder.pass >= PASS_DIVISORS.length) {
    builder.other = [];
    enter(builder, Stage.Ties);
    return;
  }
  for (let digit = 0; digit < RADIX; digit++) digits[digit] = 0;
  enter(builder, Stage.Count);
}

/** Whether two points are equal but for their nodes, and in the wrong order. */
function isAfter(ids: string[], a: number, b: number): boolean {
  return hashOf(a) === hashOf(b) && ids[a % NODE_RANGE] > ids[b % NODE_RANGE];
}

/** Points of equal hash (about one pair in a ring of 100,000): in the order of the identities. */
function orderTies(builder: RingBuilder, budget: number): void {
  const { ids, ring } = builder;
  const points = ring.points;
  const end = Math.min(builder.at + budget, ring.size);
  for (let k = builder.at; k < end; k++) {
    let j = k;
    while (j > 0 && isAfter(ids, read(points, j - 1), read(points, j))) {
      const point = read(points, j);
      write(points, j, read(points, j - 1));
      write(points, j - 1, point);
      j--;
    }
  }
  builder.at = end;
  if (end < ring.size) return;
  ring.buckets = Math.max(1, Math.floor(ring.size / POINTS_PER_BUCKET));
  enter(builder, Stage.Directory);
}

/** @param key 0 .. 2^32-1 @returns the bucket it falls in; never falls as keys rise */
function bucketOf(ring: Ring, key: number): number {
  return Math.floor((key * ring.buckets) / HASH_RANGE);
}

function makeDirectory(builder: RingBuilder, budget: number): void {
  const ring = builder.ring;
  const end = Math.min(builder.at + budget, ring.size);
  let next = builder.bucket;
  for (let k = builder.at; k < end; k++) {
    const bucket = bucketOf(ring, hashOf(read(ring.points, k)));
    while (next <= bucket) {
      write(ring.directory, next, k);
      next++;
    }
  }
  builder.at = end;
  if (end === ring.size) {
    while (next < ring.buckets) {
      write(ring.directory, next, ring.size);
      next++;
    }
    // Past every key: searches need not look where the points end.
    write(ring.points, ring.size, Infinity);
    builder.stage = Stage.Done;
  }
  builder.bucket = next;
}

/**
 * Goes on with the ring.
 * @param budget how many points to look at: a few thousand take well under a millisecond once compiled
 * @returns the finished ring, or undefined when there is more to do
 */
export function stepRing(builder: RingBuilder, budget: number): Ring | undefined {
  const stage = builder.stage;
  if (stage === Stage.Points) makePoints(builder, budget);
  else if (stage === Stage.Count) countDigits(builder, budget);
  else if (stage === Stage.Offsets) sumDigits(builder);
  else if (stage === Stage.Move) movePoints(builder, budget);
  else if (stage === Stage.Ties) orderTies(builder, budget);
  else if (stage === Stage.Directory) makeDirectory(builder, budget);
  return builder.stage === Stage.Done ? builder.ring : undefined;
}

/** Builds a ring in one go: where nothing waits for it (a worker's start). Parameters as of newRingBuilder. */
export function buildRing(ids: string[], counts: number[]): Ring {
  const builder = newRingBuilder(ids, counts);
  let ring: Ring | undefined;
  while (ring === undefined) ring = stepRing(builder, HASH_RANGE);
  return ring;
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
 * @returns the node number that owns the k-th point clockwise from a position
 */
export function nodeAt(ring: Ring, start: number, k: number): number {
  const at = start + k;
  return read(ring.points, at < ring.size ? at : at - ring.size) % NODE_RANGE;
}
