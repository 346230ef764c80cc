/**
 * Latency histograms with log-linear buckets over whole milliseconds, after HdrHistogram (Gil Tene,
 * https://hdrhistogram.org) with 3 bits of mantissa: 0..15 ms are exact, from there on every power of
 * two has 8 buckets (a bucket is at most 1/8 of its value wide) up to 131 s; the last one takes what is longer.
 *
 * Counts are plain arrays indexed by bucket, only as long as their highest bucket needs. Adding and
 * subtracting arrays is exact, so a sliding window keeps its total without ever summing again.
 */

/** Buckets below are one millisecond wide. */
const EXACT_MS = 16;

/** From here on latencies are not told apart: any proxy time-out in use is shorter. */
const OVERFLOW_MS = 131072;

/** Number of buckets: 16 exact ones, 13 powers of two with 8 each, one for the overflow. */
export const BUCKETS = 121;

/**
 * The bucket of a latency. Log phase of every request: no branches past the exact range (so that a JIT
 * trace serves all latencies), no tables, no logarithm. The position of the highest bit is counted by
 * smearing it downwards and adding up the bits (Warren, Hacker's Delight, 5-1 and 5-3).
 *
 * @param ms latency in milliseconds; fractions are cut off; negative numbers and NaN count as 0
 * @returns 0 .. BUCKETS-1
 */
export function bucketOf(ms: number): number {
  if (!(ms >= 1)) return 0;
  if (ms >= OVERFLOW_MS) return BUCKETS - 1;
  const whole = Math.floor(ms);
  if (whole < EXACT_MS) return whole;
  let bits = whole | (whole >> 1);
  bits = bits | (bits >> 2);
  bits = bits | (bits >> 4);
  bits = bits | (bits >> 8);
  bits = bits | (bits >> 16);
  bits = bits - ((bits >> 1) & 0x55555);
  bits = (bits & 0x33333) + ((bits >> 2) & 0x33333);
  bits = (bits + (bits >> 4)) & 0xf0f0f;
  const exponent = (bits & 0xff) + ((bits >> 8) & 0xff) + (bits >> 16) - 1;
  return EXACT_MS + (exponent - 4) * 8 + ((whole >> (exponent - 3)) & 7);
}

/**
 * @param bucket 0 .. BUCKETS-1
 * @returns the smallest whole number of milliseconds in the bucket
 */
export function lowerBoundMs(bucket: number): number {
  if (bucket < EXACT_MS) return bucket;
  return (8 + ((bucket - EXACT_MS) & 7)) * widthMs(bucket);
}

/**
 * @param bucket 0 .. BUCKETS-1; the overflow bucket counts as one of the next power of two
 * @returns how many whole milliseconds fall into the bucket
 */
export function widthMs(bucket: number): number {
  if (bucket < EXACT_MS) return 1;
  return 2 << ((bucket - EXACT_MS) >> 3);
}

/** @returns counts for a writer that must not grow its array: every bucket present, all 0 */
export function newCounts(): number[] {
  const counts: number[] = [];
  for (let bucket = 0; bucket < BUCKETS; bucket++) counts[bucket] = 0;
  return counts;
}

/** Sets every count to 0 and keeps the array, so that a reused one leaves no garbage. */
export function clearCounts(counts: number[]): void {
  const n = counts.length;
  for (let bucket = 0; bucket < n; bucket++) counts[bucket] = 0;
}

/**
 * @param bucket 0 .. BUCKETS-1
 * @param n added to the bucket; the array grows as needed
 */
export function addCount(counts: number[], bucket: number, n: number): void {
  const end = counts.length;
  if (bucket >= end) for (let missing = end; missing <= bucket; missing++) counts[missing] = 0;
  counts[bucket] += n;
}

/** Adds all of `source` to `target`: the histogram of both samples together. */
export function mergeInto(target: number[], source: number[]): void {
  const n = source.length;
  for (let end = target.length; end < n; end++) target[end] = 0;
  for (let bucket = 0; bucket < n; bucket++) target[bucket] += source[bucket];
}

/** Takes away what was merged before; no bucket goes below 0. */
export function subtractFrom(target: number[], source: number[]): void {
  const n = Math.min(source.length, target.length);
  for (let bucket = 0; bucket < n; bucket++) target[bucket] = Math.max(0, target[bucket] - source[bucket]);
}

/** Writes `whole` without `part` into `target`, which is overwritten; no bucket goes below 0. */
export function differenceInto(target: number[], whole: number[], part: number[]): void {
  clearCounts(target);
  mergeInto(target, whole);
  subtractFrom(target, part);
}

/**
 * The latency that a share `q` of the samples does not exceed (nearest rank), interpolated inside its
 * bucket: off by less than the bucket's width. A sample of v ms stands for v ± 0.5 ms, because a clock
 * with steps of 1 ms says no more.
 *
 * @param total sum of the counts
 * @param q 0..1
 * @returns milliseconds; 0 without samples; the overflow bucket's lower bound for what lies in it
 */
export function percentile(counts: number[], total: number, q: number): number {
  if (total <= 0) return 0;
  const rank = q * total;
  return q < 0.5 ? fromBelow(counts, rank) : fromAbove(counts, total, rank);
}

function fromBelow(counts: number[], rank: number): number {
  const n = counts.length;
  let before = 0;
  let last = 0;
  for (let bucket = 0; bucket < n; bucket++) {
    const count = counts[bucket];
    if (count > 0) {
      if (before + count >= rank) return inside(bucket, Math.max(0, rank - before) / count);
      before += count;
      last = bucket;
    }
  }
  return inside(last, 1);
}

/** The same from the other end: a high percentile is found in a few steps. */
function fromAbove(counts: number[], total: number, rank: number): number {
  let upto = total;
  let last = 0;
  for (let bucket = counts.length - 1; bucket >= 0; bucket--) {
    const count = counts[bucket];
    if (count > 0) {
      const before = upto - count;
      if (before < rank) return inside(bucket, (rank - before) / count);
      upto = before;
      last = bucket;
    }
  }
  return inside(last, 0);
}

function inside(bucket: number, position: number): number {
  if (bucket >= BUCKETS - 1) return OVERFLOW_MS;
  return Math.max(0, lowerBoundMs(bucket) - 0.5 + widthMs(bucket) * position);
}

/**
 * @param threshold_ms milliseconds
 * @returns samples in buckets that begin at the threshold or later
 */
export function countFrom(counts: number[], threshold_ms: number): number {
  let bucket = bucketOf(threshold_ms);
  if (lowerBoundMs(bucket) < threshold_ms) bucket++;
  const n = counts.length;
  let sum = 0;
  for (; bucket < n; bucket++) sum += counts[bucket];
  return sum;
}

/** @returns the form for the wire: bucket, count, bucket, count, … in ascending order, zeros left out */
export function toSparse(counts: number[]): number[] {
  const sparse: number[] = [];
  const n = counts.length;
  let end = 0;
  for (let bucket = 0; bucket < n; bucket++) {
    if (counts[bucket] > 0) {
      sparse[end] = bucket;
      sparse[end + 1] = counts[bucket];
      end += 2;
    }
  }
  return sparse;
}

/**
 * Adds a histogram from the wire.
 *
 * @param sparse bucket, count, bucket, count, … in any order; checked before by cleanSparse if another process wrote it
 * @param scale every count is multiplied by it
 */
export function addSparse(target: number[], sparse: number[], scale: number): void {
  const n = sparse.length;
  for (let i = 0; i < n; i += 2) addCount(target, sparse[i], sparse[i + 1] * scale);
}

/**
 * What comes from another process may be of another version, or broken.
 *
 * @param value anything
 * @returns the value itself if it is a sparse histogram; else those of its pairs that are a bucket and a positive count
 */
export function cleanSparse(value: unknown): number[] {
  if (typeof value !== "object" || value === null) return [];
  const sparse = value as unknown[];
  const n = sparse.length;
  let sound = n % 2 === 0;
  for (let i = 0; i + 1 < n; i += 2) sound = isPair(sparse[i], sparse[i + 1]) && sound;
  if (sound) return sparse as number[];
  const kept: number[] = [];
  for (let i = 0; i + 1 < n; i += 2) {
    if (isPair(sparse[i], sparse[i + 1])) {
      const end = kept.length;
      kept[end] = sparse[i] as number;
      kept[end + 1] = sparse[i + 1] as number;
    }
  }
  return kept;
}

function isPair(bucket: unknown, count: unknown): boolean {
  if (typeof bucket !== "number" || typeof count !== "number") return false;
  return bucket >= 0 && bucket < BUCKETS && Math.floor(bucket) === bucket && count > 0 && count < Infinity;
}
