/** How an upstream's checks went lately: over the last one to two minutes, so that a bad hour in the past does not show for ever. */
export interface ProbeTally {
  now: Counts;
  before: Counts;
}

interface Counts {
  since_ms: number;
  passed: number;
  failed: number;
  /** Ended without a result: the gateway's own fault. */
  void: number;
  sum_ms: number;
}

const SPAN_MS = 60000;

function newCounts(since_ms: number): Counts {
  return { since_ms, passed: 0, failed: 0, void: 0, sum_ms: 0 };
}

export function newTally(now_ms: number): ProbeTally {
  return { now: newCounts(now_ms), before: newCounts(now_ms) };
}

function advance(tally: ProbeTally, now_ms: number): void {
  if (now_ms - tally.now.since_ms < SPAN_MS) return;
  tally.before = now_ms - tally.now.since_ms < 2 * SPAN_MS ? tally.now : newCounts(now_ms);
  tally.now = newCounts(now_ms);
}

/** @param ok undefined: the check ended without a result */
export function countCheck(tally: ProbeTally, ok: boolean | undefined, took_ms: number, now_ms: number): void {
  advance(tally, now_ms);
  const counts = tally.now;
  if (ok === undefined) {
    counts.void++;
    return;
  }
  if (ok) counts.passed++;
  else counts.failed++;
  counts.sum_ms += took_ms;
}

/** Of the last one to two minutes. */
export interface ProbeSummary {
  checks: number;
  failed: number;
  /** Checks that found nothing out, because the gateway itself stood still. */
  void: number;
  /** Passed ÷ checks, 0..1; absent without checks. */
  pass_rate?: number;
  /** Mean duration of a check, ms; absent without checks. */
  mean_ms?: number;
  /** Under way, and waiting for a place. */
  running: number;
  waiting: number;
}

/** @returns the summary, with 0 running and waiting */
export function summarize(tally: ProbeTally, now_ms: number): ProbeSummary {
  advance(tally, now_ms);
  const { now, before } = tally;
  const failed = now.failed + before.failed;
  const checks = now.passed + before.passed + failed;
  const summary: ProbeSummary = { checks, failed, void: now.void + before.void, running: 0, waiting: 0 };
  if (checks > 0) {
    summary.pass_rate = Math.floor(((checks - failed) / checks) * 10000 + 0.5) / 10000;
    summary.mean_ms = Math.floor(((now.sum_ms + before.sum_ms) / checks) * 10 + 0.5) / 10;
  }
  return summary;
}
