import type { Result } from "../../sim/job";
import type { Scenario, Target } from "./scenario";

/** A figure over the seeds. */
export interface Spread {
  median: number;
  min: number;
  max: number;
}

export interface Verdict extends Target {
  value: number;
  met: boolean;
}

/** One strategy or bound in one scenario, over all seeds. */
export interface Row {
  player: string;
  is_bound: boolean;
  p50_ms: Spread;
  p99_ms: Spread;
  p999_ms: Spread;
  mean_wait_ms: Spread;
  error_share: Spread;
  goodput_share: Spread;
  peak_to_mean: Spread;
  tries_per_request: Spread;
  /** P99 ÷ the shared queue's with the same seed − 1. */
  p99_distance: Spread;
  /** Medians by node. */
  shares: number[];
  verdicts: Verdict[];
  faults: string[];
}

export interface Summary {
  scenario: string;
  description: string;
  seeds: number;
  rate_per_s: number;
  capacity_per_s: number;
  rows: Row[];
}

/** The middle value; of an even number, the mean of the two. */
export function spread(values: number[]): Spread {
  const sorted = [...values].sort((a, b) => a - b);
  const half = sorted.length >> 1;
  const median = sorted.length % 2 === 1 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
  return { median, min: sorted[0], max: sorted[sorted.length - 1] };
}

function judge(row: Row, targets: Target[]): Verdict[] {
  if (row.is_bound) return [];
  return targets.map((target) => {
    const value = row[target.figure].median;
    return { ...target, value, met: value <= (target.at_most ?? Infinity) && value >= (target.at_least ?? -Infinity) };
  });
}

function rowOf(player: string, is_bound: boolean, runs: Result[], reference: Result[]): Row {
  const over = (figure: (run: Result, k: number) => number): Spread => spread(runs.map(figure));
  return {
    player,
    is_bound,
    p50_ms: over((run) => run.p50_ms),
    p99_ms: over((run) => run.p99_ms),
    p999_ms: over((run) => run.p999_ms),
    mean_wait_ms: over((run) => run.mean_wait_ms),
    error_share: over((run) => run.error_share),
    // What could be served at all: the lesser of load and capacity.
    goodput_share: over((run) => run.goodput_per_s / Math.min(run.rate_per_s, run.capacity_per_s)),
    peak_to_mean: over((run) => run.peak_to_mean),
    tries_per_request: over((run) => run.tries_per_request),
    p99_distance: over((run, k) => run.p99_ms / reference[k].p99_ms - 1),
    shares: runs[0].shares.map((_, node) => over((run) => run.shares[node]).median),
    verdicts: [],
    faults: [...new Set(runs.flatMap((run) => run.faults))],
  };
}

/** @param results of one scenario; every player has the same seeds, in the same order; "shared_queue" is among them */
export function summarise(
  scenario: Scenario,
  players: { name: string; is_bound: boolean }[],
  results: Result[],
): Summary {
  const seeds = results.length / players.length;
  const runsOf = (at: number): Result[] => results.slice(at * seeds, (at + 1) * seeds);
  const reference = runsOf(players.findIndex((player) => player.name === "shared_queue"));
  const rows = players.map(({ name, is_bound }, at) => rowOf(name, is_bound, runsOf(at), reference));
  for (const row of rows) row.verdicts = judge(row, scenario.targets);
  return {
    scenario: scenario.name,
    description: scenario.description.trim(),
    seeds,
    rate_per_s: spread(reference.map((run) => run.rate_per_s)).median,
    capacity_per_s: reference[0].capacity_per_s,
    rows,
  };
}
