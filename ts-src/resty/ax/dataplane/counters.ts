import { bucketOf, BUCKETS, toSparse } from "../core/histogram";
import type { NodeDelta } from "../core/wire";

/** What became of one try. */
export const enum Outcome {
  /** Answered, not with a 5xx. */
  Ok = 0,
  /** Answered with a 5xx. */
  Error = 1,
  /** No answer: refused, reset, timed out. */
  Fail = 2,
  /** Ended by the client: nobody's fault. */
  Aborted = 3,
  /** Refused for load (429, 503 with Retry-After): a healthy node that has enough. */
  Busy = 4,
}

/**
 * Counts of one worker since its last flush, per node of one upstream. Written by the balancer and
 * log phases, drained by the flush timer.
 */
export interface Counters {
  picks: number[];
  ok: number[];
  err: number[];
  fail: number[];
  aborted: number[];
  busy: number[];
  /** Longest Retry-After since the last flush, ms. */
  retry_after_ms: number[];
  sum_ms: number[];
  /**
   * Histogram of the latencies of successes: bucket → count. Dense, so that counting has no branch;
   * made at the node's first success, because most nodes of a very large pool never have one here.
   */
  hist: number[][];
  /** Failures without an answer in a row; lives on over flushes. */
  streak: number[];
  /** Failures of any kind in a row; lives on over flushes. */
  failures: number[];
  /** The last load report (reports.ts); "" = none since the last flush. */
  report: string[];
  /** Nodes with something to report, each once. */
  dirty: number[];
  dirty_count: number;
  is_dirty: boolean[];
}

export function newCounters(n: number): Counters {
  const counters: Counters = {
    picks: [],
    ok: [],
    err: [],
    fail: [],
    aborted: [],
    busy: [],
    retry_after_ms: [],
    sum_ms: [],
    hist: [],
    streak: [],
    failures: [],
    report: [],
    dirty: [],
    dirty_count: 0,
    is_dirty: [],
  };
  for (let node = 0; node < n; node++) {
    counters.streak[node] = 0;
    counters.failures[node] = 0;
    counters.is_dirty[node] = false;
    counters.hist[node] = NONE;
    clearNode(counters, node);
  }
  return counters;
}

function clearNode(counters: Counters, node: number): void {
  counters.picks[node] = 0;
  counters.ok[node] = 0;
  counters.err[node] = 0;
  counters.fail[node] = 0;
  counters.aborted[node] = 0;
  counters.busy[node] = 0;
  counters.retry_after_ms[node] = 0;
  counters.sum_ms[node] = 0;
  counters.report[node] = "";
}

/** Stands for the histogram of a node that has had no success yet. Never written to. */
const NONE: number[] = [];

function newHistogram(): number[] {
  const counts: number[] = [];
  for (let bucket = 0; bucket < BUCKETS; bucket++) counts[bucket] = 0;
  return counts;
}

function touch(counters: Counters, node: number): void {
  if (counters.is_dirty[node]) return;
  counters.is_dirty[node] = true;
  counters.dirty[counters.dirty_count] = node;
  counters.dirty_count++;
}

export function countPick(counters: Counters, node: number): void {
  counters.picks[node]++;
  touch(counters, node);
}

/** @param latency_ms time to first byte; read for Outcome.Ok only */
export function countOutcome(counters: Counters, node: number, outcome: Outcome, latency_ms: number): void {
  touch(counters, node);
  if (outcome === Outcome.Ok) {
    counters.ok[node]++;
    counters.failures[node] = 0;
    counters.sum_ms[node] += latency_ms;
    let hist = counters.hist[node];
    if (hist === NONE) {
      hist = newHistogram();
      counters.hist[node] = hist;
    }
    hist[bucketOf(latency_ms)]++;
  } else if (outcome === Outcome.Error) {
    counters.err[node]++;
    counters.failures[node]++;
  } else if (outcome === Outcome.Fail) {
    counters.fail[node]++;
    counters.failures[node]++;
  } else if (outcome === Outcome.Busy) {
    counters.busy[node]++;
  } else {
    counters.aborted[node]++;
  }
}

/** The node asked to be left alone for so long: the longest request of that kind since the last flush is passed on. */
export function noteRetryAfter(counters: Counters, node: number, retry_after_ms: number): void {
  if (retry_after_ms > counters.retry_after_ms[node]) counters.retry_after_ms[node] = retry_after_ms;
}

function clearHistogram(counts: number[]): void {
  for (let bucket = 0; bucket < BUCKETS; bucket++) counts[bucket] = 0;
}

/** Takes one node's counts out, leaving zeros. */
function takeNode(counters: Counters, node: number): NodeDelta {
  const counted = counters.hist[node];
  const delta: NodeDelta = {
    picks: counters.picks[node],
    ok: counters.ok[node],
    err: counters.err[node],
    fail: counters.fail[node],
    aborted: counters.aborted[node],
    busy: counters.busy[node],
    retry_after_ms: counters.retry_after_ms[node],
    sum_ms: counters.sum_ms[node],
    hist: toSparse(counted),
    streak: counters.streak[node],
    failures: counters.failures[node],
  };
  if (counters.report[node] !== "") delta.report = counters.report[node];
  if (delta.ok > 0) clearHistogram(counted);
  clearNode(counters, node);
  return delta;
}

/**
 * Takes out what was counted since the last call, keyed by node identity.
 * @param most nodes at a time: while this many come, there may be more
 * @returns undefined when nothing happened, or nothing is left
 */
export function takeDeltas(counters: Counters, ids: string[], most = Infinity): Record<string, NodeDelta> | undefined {
  if (counters.dirty_count === 0) return undefined;
  const deltas: Record<string, NodeDelta> = {};
  const end = Math.max(0, counters.dirty_count - most);
  for (let k = counters.dirty_count - 1; k >= end; k--) {
    const node = counters.dirty[k];
    counters.is_dirty[node] = false;
    deltas[ids[node]] = takeNode(counters, node);
  }
  counters.dirty_count = end;
  return deltas;
}
