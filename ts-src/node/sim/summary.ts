import type { Result } from "../../sim/job";
import { CLASS_FIGURES, type Scenario, type Target } from "./scenario_schema";

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

/** The requests of one class. */
export interface ClassRow {
  name: string;
  p50_ms: Spread;
  p99_ms: Spread;
  p99_vs_first: Spread;
  error_share: Spread;
  refused_share: Spread;
}

/** Requests refused for one reason: of all requests, and how long after they came. */
export interface RefusedRow {
  reason: string;
  share: Spread;
  p99_ms: Spread;
}

/** One line of the table: a strategy with its options, or a bound. */
export interface Line {
  name: string;
  is_bound: boolean;
  /** Of the scenario's load. */
  load_factor: number;
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
  refused_share: Spread;
  refused: RefusedRow[];
  goodput_share: Spread;
  peak_to_mean: Spread;
  tries_per_request: Spread;
  /** P99 ÷ the shared queue's with the same seed − 1; NaN where the load is another. */
  p99_distance: Spread;
  /** P99 ÷ that of the first line with the same seed. */
  p99_vs_first: Spread;
  /** Share of hits in the nodes' caches; -1 = the scenario has none. */
  hit_share: Spread;
  /** Nodes that serve the hot key; -1 = there is no such key. */
  hot_key_nodes: Spread;
  classes: ClassRow[];
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

function figureOf(row: Row, of_class: ClassRow | undefined, figure: Target["figure"]): Spread {
  const known = CLASS_FIGURES.find((name) => name === figure);
  return of_class !== undefined && known !== undefined ? of_class[known] : row[figure];
}

function refusedRows(runs: Result[]): RefusedRow[] {
  const reasons = [...new Set(runs.flatMap(({ refused }) => refused.map(({ reason }) => reason)))].sort();
  return reasons.map((reason) => {
    const found = runs.map(({ refused }) => refused.find((each) => each.reason === reason));
    const times = found.flatMap((each) => (each === undefined ? [] : [each.p99_ms]));
    return { reason, share: spread(found.map((each) => each?.share ?? 0)), p99_ms: spread(times) };
  });
}

function judge(row: Row, targets: Target[]): Verdict[] {
  if (row.is_bound) return [];
  const meant = targets.filter((target) => target.for?.includes(row.player) ?? true);
  return meant.map((target) => {
    const of_class = row.classes.find(({ name }) => name === target.class);
    const value = figureOf(row, of_class, target.figure).median;
    return { ...target, value, met: value <= (target.at_most ?? Infinity) && value >= (target.at_least ?? -Infinity) };
  });
}

/** @param reference the shared queue's runs @param first those of the first line */
function rowOf({ name, is_bound, load_factor }: Line, runs: Result[], reference: Result[], first: Result[]): Row {
  const over = (figure: (run: Result, k: number) => number): Spread => spread(runs.map(figure));
  return {
    player: name,
    is_bound,
    p50_ms: over((run) => run.p50_ms),
    p99_ms: over((run) => run.p99_ms),
    p999_ms: over((run) => run.p999_ms),
    mean_wait_ms: over((run) => run.mean_wait_ms),
    error_share: over((run) => run.error_share),
    refused_share: over((run) => run.refused_share),
    refused: refusedRows(runs),
    // What could be served at all: the lesser of load and capacity.
    goodput_share: over((run) => run.goodput_per_s / Math.min(run.rate_per_s, run.capacity_per_s)),
    peak_to_mean: over((run) => run.peak_to_mean),
    tries_per_request: over((run) => run.tries_per_request),
    p99_distance: over((run, k) => (load_factor === 1 ? run.p99_ms / reference[k].p99_ms - 1 : NaN)),
    p99_vs_first: over((run, k) => run.p99_ms / first[k].p99_ms),
    hit_share: over((run) => run.hit_share),
    hot_key_nodes: over((run) => run.hot_key_nodes),
    classes: runs[0].classes.map(({ name: of_class }, at) => ({
      name: of_class,
      p50_ms: over((run) => run.classes[at].p50_ms),
      p99_ms: over((run) => run.classes[at].p99_ms),
      p99_vs_first: over((run, k) => run.classes[at].p99_ms / first[k].classes[at].p99_ms),
      error_share: over((run) => run.classes[at].error_share),
      refused_share: over((run) => run.classes[at].refused_share),
    })),
    shares: runs[0].shares.map((_, node) => over((run) => run.shares[node]).median),
    verdicts: [],
    faults: [...new Set(runs.flatMap((run) => run.faults))],
  };
}

/** @param results of one scenario; every line has the same seeds, in the same order; "shared_queue" is among them */
export function summarise(scenario: Scenario, lines: Line[], results: Result[]): Summary {
  const seeds = results.length / lines.length;
  const runsOf = (at: number): Result[] => results.slice(at * seeds, (at + 1) * seeds);
  const reference = runsOf(lines.findIndex((line) => line.name === "shared_queue"));
  const rows = lines.map((line, at) => rowOf(line, runsOf(at), reference, runsOf(0)));
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
