import { loadOf } from "./load";
import type { Pool } from "./pool";

/**
 * Scores nodes from signals: each signal is brought to 0..1 (1 = best) by a normaliser, then they are
 * added by weight. Raw units never meet in a sum. What is scored by what is data (goals.ts, or the
 * user's own); a signal that agents report is one more line in SIGNALS.
 *
 * A node without data for a signal gets the mean of the others: never the best, never 0.
 * Runs when a snapshot arrives, not per pick.
 */

/** A signal's reader gives this for "no data": real ones are never negative. */
const NO_DATA = -1;

/** Something that can be known of a node. */
export interface Signal {
  /** One line for the reference page. */
  doc: string;
  /** Which end is good. */
  better: Direction;
  /** It is a share, 0..1, by nature: may be added as it stands. */
  is_share: boolean;
  /** @returns the raw value, 0 or more, or NO_DATA */
  read(this: void, pool: Pool, node: number): number;
}

export type Direction = "low" | "high";

/** A signal that nodes report: without a report there is no data. */
function reported(name: string): Signal["read"] {
  return (pool, node) => pool.reports[name]?.[node] ?? NO_DATA;
}

/** Every signal, by the name used in the configuration. */
export const SIGNALS: Record<string, Signal> = {
  latency: {
    doc: "mean latency of successes, about 1 s",
    better: "low",
    is_share: false,
    read: (pool, node) => (pool.samples[node] > 0 ? pool.latency_ms[node] : NO_DATA),
  },
  p99: {
    doc: "P99 of successes as the collector judges it",
    better: "low",
    is_share: false,
    read: (pool, node) => pool.p99_ms[node],
  },
  in_flight: {
    doc: "requests in flight per weight",
    better: "low",
    is_share: false,
    read: (pool, node) => loadOf(pool, pool.static_weight, node),
  },
  load: {
    doc: "requests in flight ÷ capacity (`max_conns`, else `max_concurrency_per_node`)",
    better: "low",
    is_share: true,
    read: (pool, node) => (pool.in_flight[node] + pool.others_in_flight[node]) / pool.capacity[node],
  },
  success: {
    doc: "share of tries that succeeded, about 1 s",
    better: "high",
    is_share: true,
    // Without a try, 1 is only a manner of speaking.
    read: (pool, node) => (pool.samples[node] > 0 || pool.success[node] < 1 ? pool.success[node] : NO_DATA),
  },
  weight: {
    doc: "base weight × ramp",
    better: "high",
    is_share: false,
    read: (pool, node) => pool.static_weight[node],
  },
  cpu: { doc: "share of its CPU in use, as the node reports it", better: "low", is_share: true, read: reported("cpu") },
  memory: {
    doc: "share of its memory in use, as the node reports it",
    better: "low",
    is_share: true,
    read: reported("memory"),
  },
  cost: { doc: "the node's `cost`", better: "low", is_share: false, read: (pool, node) => pool.price[node] },
};

/** One signal's part in a score, as configured. */
export interface SignalPart {
  name: string;
  weight: number;
  normaliser: string;
  /** Absent = the signal's own. */
  direction?: Direction;
}

/** What normalisers know of a signal's values: those of at most SAMPLE nodes. */
interface Stats {
  sorted: number[];
  size: number;
  mean: number;
  deviation: number;
  /** P95 over the last seconds. */
  historic_p95: number;
}

interface Term {
  part: SignalPart;
  signal: Signal;
  is_low: boolean;
  stats: Stats;
  /** What a node without data is taken for: the mean of the others. */
  mean_goodness: number;
}

/** State of one upstream's scores in one worker: the history of its P95s. */
export interface Scorer {
  terms: Term[];
}

/** Nodes whose values are sorted; of more, an evenly spaced sample: a rebuild must not block a worker for 2 ms. */
const SAMPLE = 256;

/** Values that differ by less are equal: the order within noise means nothing. */
const TIE = 0.1;

/** How much of a new P95 enters the historic one per snapshot: at two a second, about 5 s of memory. */
const HISTORY_GAIN = 0.1;

/** Standard deviations at which a z-score is clipped: one outlier must not decide. */
const Z_MAX = 3;

/** A value of a signal all nodes agree on says nothing. */
const MIDDLE = 0.5;

/** @returns how many of the sorted values are under the limit (or at it, when `inclusive`) */
function countUnder(stats: Stats, limit: number, inclusive: boolean): number {
  let low = 0;
  let high = stats.size;
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    const value = stats.sorted[middle];
    if (value < limit || (inclusive && value === limit)) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Brings a raw value to 0..1; high is high here, the direction comes after. */
type Normaliser = (this: void, stats: Stats, value: number) => number;

/** Every normaliser by the name used in the configuration. */
export const NORMALISERS: Record<string, Normaliser> = {
  // Rank among the nodes, equal ones in the middle of their ranks: one node at 5000 ms flattens nobody.
  percentile: (stats, value) => {
    // A node with data, and none in the sample.
    if (stats.size === 0) return MIDDLE;
    const under = countUnder(stats, value * (1 - TIE), false);
    const up_to = countUnder(stats, value * (1 + TIE), true);
    return (under + (up_to - under) / 2) / stats.size;
  },
  // Min–max from 0 to the P95 of the last seconds, not to the maximum: proportions stay, outliers are cut.
  p95: (stats, value) => (stats.historic_p95 > 0 ? Math.min(1, value / stats.historic_p95) : MIDDLE),
  zscore: (stats, value) => {
    if (stats.deviation <= 1e-9 * Math.abs(stats.mean)) return MIDDLE;
    const z = (value - stats.mean) / stats.deviation;
    return (Math.max(-Z_MAX, Math.min(Z_MAX, z)) + Z_MAX) / (2 * Z_MAX);
  },
  // For signals that are shares by nature.
  share: (_stats, value) => Math.max(0, Math.min(1, value)),
};

/** @param parts at least one, names and normalisers known, weights more than 0 */
export function newScorer(parts: SignalPart[]): Scorer {
  const terms: Term[] = [];
  for (let i = 0; i < parts.length; i++) {
    const signal = SIGNALS[parts[i].name];
    const direction = parts[i].direction ?? signal.better;
    const stats: Stats = { sorted: [], size: 0, mean: 0, deviation: 0, historic_p95: -1 };
    terms.push({ part: parts[i], signal, is_low: direction === "low", stats, mean_goodness: MIDDLE });
  }
  return { terms };
}

/** Looks at an evenly spaced sample of the nodes. */
function sampleInto(term: Term, pool: Pool, candidates: number[], count: number): void {
  const stats = term.stats;
  const step = Math.max(1, count / SAMPLE);
  const sorted: number[] = [];
  let sum = 0;
  for (let at = 0; at < count; at += step) {
    const value = term.signal.read(pool, candidates[Math.floor(at)]);
    if (value >= 0) {
      sorted.push(value);
      sum += value;
    }
  }
  sorted.sort((a, b) => a - b);
  const size = sorted.length;
  stats.sorted = sorted;
  stats.size = size;
  if (size === 0) return;
  stats.mean = sum / size;
  let squares = 0;
  for (let k = 0; k < size; k++) squares += (sorted[k] - stats.mean) * (sorted[k] - stats.mean);
  stats.deviation = Math.sqrt(squares / size);
  const p95 = sorted[Math.floor((size - 1) * 0.95)];
  const history = stats.historic_p95;
  stats.historic_p95 = history < 0 ? p95 : history + HISTORY_GAIN * (p95 - history);
}

/** @returns 0..1, 1 = best */
function goodness(term: Term, value: number): number {
  const part = NORMALISERS[term.part.normaliser](term.stats, value);
  return term.is_low ? 1 - part : part;
}

/** What a node without data is taken for: the mean of the others. */
function meanGoodness(term: Term): number {
  const { sorted, size } = term.stats;
  if (size === 0) return MIDDLE;
  let sum = 0;
  for (let k = 0; k < size; k++) sum += goodness(term, sorted[k]);
  return sum / size;
}

/**
 * Looks at what is usual among the candidates, signal by signal: first step, once a snapshot.
 * @param candidates node numbers, the first `count` are valid
 */
export function measureSignals(scorer: Scorer, pool: Pool, candidates: number[], count: number): void {
  for (let i = 0; i < scorer.terms.length; i++) {
    const term = scorer.terms[i];
    sampleInto(term, pool, candidates, count);
    term.mean_goodness = meanGoodness(term);
  }
}

/**
 * Scores a part of the candidates against what was measured. Second step.
 * @param from first position to score
 * @param to position after the last
 * @param scores by node number: 0..1, 1 = best
 */
export function scoreNodes(
  scorer: Scorer,
  pool: Pool,
  candidates: number[],
  from: number,
  to: number,
  scores: number[],
): void {
  let weights = 0;
  for (let k = from; k < to; k++) scores[candidates[k]] = 0;
  for (let i = 0; i < scorer.terms.length; i++) {
    const term = scorer.terms[i];
    const weight = term.part.weight;
    const mean = term.mean_goodness;
    for (let k = from; k < to; k++) {
      const node = candidates[k];
      const value = term.signal.read(pool, node);
      scores[node] += weight * (value < 0 ? mean : goodness(term, value));
    }
    weights += weight;
  }
  for (let k = from; k < to; k++) scores[candidates[k]] = scores[candidates[k]] / weights;
}
