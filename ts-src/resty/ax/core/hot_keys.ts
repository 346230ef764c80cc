/**
 * Which keys are hot: a count-min sketch (Cormode & Muthukrishnan 2005) of this worker's last few
 * thousand keyed picks. A count is never below the truth, and above it only by what other keys share
 * both of its cells: with 512 columns and two rows, about 0.2 % of the traffic. Halving all counts
 * now and then makes old traffic fade. Bounded memory, no allocation, no clock, no random.
 *
 * Written at picks; lives as long as the worker.
 */
export interface HotKeys {
  /** Two rows of COLUMNS counts. */
  counts: number[];
  total: number;
}

/** Half a thousand columns tell a share of 1 % from noise; the sketch is 8 kB. */
const COLUMNS = 512;

/** The next flush halves all counts from so many on: some thousands of picks matter, hundreds of a key at 10 %. */
const WINDOW = 4096;

/** Below so many counted picks no key is hot: of 512, a key with 10 % has 51 ± 7. */
const MIN_TOTAL = 512;

export function newHotKeys(): HotKeys {
  const hot: HotKeys = { counts: [], total: 0 };
  for (let k = 0; k < 2 * COLUMNS; k++) hot.counts[k] = 0;
  return hot;
}

/** Makes old traffic fade. Flush: in a pick it would be the only loop. */
export function fadeKeys(hot: HotKeys): void {
  if (hot.total < WINDOW) return;
  for (let k = 0; k < 2 * COLUMNS; k++) hot.counts[k] = hot.counts[k] / 2;
  hot.total = hot.total / 2;
}

/**
 * Counts one pick of a key.
 * @param key 0 .. 2^32-1, well mixed: its bits are taken as two independent hashes
 * @returns the key's share of the picks counted, 0..1; 0 while too few are
 */
export function noteKey(hot: HotKeys, key: number): number {
  const first = key % COLUMNS;
  const second = COLUMNS + (Math.floor(key / COLUMNS) % COLUMNS);
  const counts = hot.counts;
  const a = counts[first] + 1;
  const b = counts[second] + 1;
  counts[first] = a;
  counts[second] = b;
  const total = hot.total + 1;
  hot.total = total;
  if (total < MIN_TOTAL) return 0;
  return (a < b ? a : b) / total;
}
