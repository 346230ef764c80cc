import { countFrom, differenceInto, percentile } from "./histogram";
import { errorRate, judged, type NodeWindows } from "./windows";

/**
 * Which window speaks for a node. The long one gives steady decisions and is right as long as the node
 * is what it was. It is wrong for up to its length once the node has changed: after a recovery its P99
 * is that of the fault until fewer than 1 % of its samples are from then. So where the two clearly differ the
 * short one decides, in both directions; after a change for the better the long window forgets the time
 * before the short one.
 *
 * "Clearly" needs two things, or weights would slosh with the noise of small samples: a large
 * difference (ratio over 1.5 or under 0.67), and one that chance does not explain: the number of tries
 * past that limit is three standard deviations from what the time *before* the short window lets expect
 * (both counts taken as Poisson, so that little data on either side makes it harder, not easier).
 */

/** What is held against a node, and by which window. */
export interface Evidence {
  /** P99 of successes, ms; undefined without any. */
  p99_ms?: number;
  /** How much the P99 is worth, 0..1: 1 from min_samples samples on. */
  p99_confidence: number;
  /** Failed ÷ judged tries, 0..1; 0 when too few samples say anything. */
  error_rate: number;
  /** The short window shows a node that has become better: the older slots are to be forgotten. */
  recovered: boolean;
}

/** Relations of the short window to the time before that count as large. */
const WORSE_RATIO = 1.5;
const BETTER_RATIO = 0.67;

/** Standard deviations that chance does not explain: 0.1 % a side, and the ratio must be large as well. */
const SIGNIFICANT_SIGMA = 3;

/**
 * Latencies that differ by less are taken as equal, and ratios are taken of no less: nginx's clock has
 * steps of 1 ms and is read twice for a latency, so below this a ratio is mostly quantisation.
 */
export const LATENCY_FLOOR_MS = 5;

const P99 = 0.99;

/** The time before the short window: what the long one knows beyond it. Scratch memory, one call at a time. */
const older: number[] = [];

/**
 * Are there clearly more hits among `n` than the rate before, `old_hits` of `old_n`, lets expect?
 */
export function clearlyMore(hits: number, n: number, old_hits: number, old_n: number): boolean {
  const expected = (n * old_hits) / old_n;
  return hits - expected >= SIGNIFICANT_SIGMA * Math.sqrt((expected + 1) * (1 + n / old_n));
}

/** Are there clearly fewer hits among `n` than the rate before, `old_hits` of `old_n`, lets expect? */
export function clearlyFewer(hits: number, n: number, old_hits: number, old_n: number): boolean {
  const expected = (n * old_hits) / old_n;
  return expected > 0 && expected - hits >= SIGNIFICANT_SIGMA * Math.sqrt(expected * (1 + n / old_n));
}

/**
 * @param windows both slid to the present
 * @param min_samples fewer samples than this in a window say little (latency) or nothing (errors)
 */
export function weigh(windows: NodeWindows, min_samples: number): Evidence {
  const evidence: Evidence = { p99_confidence: 0, error_rate: 0, recovered: false };
  weighLatency(evidence, windows, min_samples);
  weighErrors(evidence, windows, min_samples);
  return evidence;
}

function weighLatency(evidence: Evidence, windows: NodeWindows, min_samples: number): void {
  const short = windows.short.total;
  const long = windows.long.total;
  if (long.ok <= 0) return;
  const long_p99 = percentile(long.hist, long.ok, P99);
  evidence.p99_ms = long_p99;
  evidence.p99_confidence = Math.min(1, long.ok / min_samples);
  const old_n = long.ok - short.ok;
  if (short.ok < min_samples || old_n < min_samples) return;
  const p99 = percentile(short.hist, short.ok, P99);
  if (Math.abs(p99 - long_p99) <= LATENCY_FLOOR_MS) return;
  if (p99 > WORSE_RATIO * long_p99) {
    const limit = WORSE_RATIO * long_p99;
    differenceInto(older, long.hist, short.hist);
    if (clearlyMore(countFrom(short.hist, limit), short.ok, countFrom(older, limit), old_n)) evidence.p99_ms = p99;
  } else if (p99 < BETTER_RATIO * long_p99) {
    const limit = BETTER_RATIO * long_p99;
    differenceInto(older, long.hist, short.hist);
    if (clearlyFewer(countFrom(short.hist, limit), short.ok, countFrom(older, limit), old_n)) {
      evidence.p99_ms = p99;
      evidence.recovered = true;
    }
  }
}

function weighErrors(evidence: Evidence, windows: NodeWindows, min_samples: number): void {
  const short = windows.short.total;
  const long = windows.long.total;
  const n = judged(short);
  const long_n = judged(long);
  if (long_n < min_samples) return;
  evidence.error_rate = errorRate(long);
  const old_n = long_n - n;
  if (n < min_samples || old_n < min_samples) return;
  const bad = short.err + short.fail;
  const old_bad = long.err + long.fail - bad;
  const rate = bad / n;
  const old_rate = old_bad / old_n;
  if (rate > WORSE_RATIO * old_rate) {
    if (clearlyMore(bad, n, old_bad, old_n)) evidence.error_rate = rate;
  } else if (rate < BETTER_RATIO * old_rate && clearlyFewer(bad, n, old_bad, old_n)) {
    evidence.error_rate = rate;
    evidence.recovered = true;
  }
}
