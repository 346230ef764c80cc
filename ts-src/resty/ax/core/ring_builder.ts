/**
 * Makes a ring (ring.ts) in slices: points node by node, a radix sort by hash, ties by identity, a directory. About a
 * quarter of the time of a comparison sort, and it can stop anywhere.
 */
import { type Chunked, read, write } from "./chunked";
import { HASH_RANGE, hashBytes, hashPair } from "./hash";
import { bucketOf, hashOf, NODE_RANGE, type Ring } from "./ring";

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

/** Builds a ring in one go. Parameters as of newRingBuilder. */
export function buildRing(ids: string[], counts: number[]): Ring {
  const builder = newRingBuilder(ids, counts);
  let ring: Ring | undefined;
  while (ring === undefined) ring = stepRing(builder, HASH_RANGE);
  return ring;
}
