/** From samples to what is reported: medians, and ratios within each repetition. */
import { capacityOf, type ClassFigures, type ClassLoad, type OverloadFigures } from "./class_load";
import { type Contender, label } from "./contenders";
import type { LoadFigures, Sample } from "./measure";
import type { Scenario } from "./scenarios";
import { type Target, targetsOf } from "./targets";
import { CLASSES, FIRST_CLASS } from "./two_classes";

export interface Row {
  contender: string;
  by: Contender["by"];
  repetitions: number;
  closed?: LoadFigures;
  open?: LoadFigures;
  overload?: OverloadFigures;
  cpu_us: number;
  shares: number[];
  hit_ratio?: number;
  hot_nodes?: number;
  /** To the first contender of the scenario, in the same repetition; medians. */
  rps_ratio: number;
  p99_ratio: number;
  cpu_ratio: number;
  /** Of the last repetition, for the chart. */
  shares_over_time: number[][];
}

export interface ScenarioResult {
  scenario: string;
  about: string;
  workers: number;
  connections: number;
  rate: number;
  /** Of two classes. */
  offered?: ClassLoad & { capacity_rps: number };
  rows: Row[];
  /** Contenders without figures, and why. */
  failures: Failure[];
  targets: Target[];
}

/** A contender that could not be started, or ended or failed while it was measured. */
export interface Failure {
  contender: string;
  /** One line. */
  reason: string;
}

/** The lower one of two in the middle. */
export function median(values: number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor((sorted.length - 1) / 2)] ?? 0;
}

function medians(all: LoadFigures[]): LoadFigures | undefined {
  if (all.length === 0) return undefined;
  const of = (read: (figures: LoadFigures) => number): number => median(all.map(read));
  return {
    rps: of((f) => f.rps),
    p50_ms: of((f) => f.p50_ms),
    p99_ms: of((f) => f.p99_ms),
    p999_ms: of((f) => f.p999_ms),
    error_share: of((f) => f.error_share),
    quantiles_ms: all[0].quantiles_ms.map((_, k) => of((f) => f.quantiles_ms[k])),
    ...(all[0].lag_ms !== undefined && { lag_ms: of((f) => f.lag_ms ?? 0) }),
  };
}

function overloadMedians(all: OverloadFigures[]): OverloadFigures | undefined {
  if (all.length === 0) return undefined;
  const of = (read: (figures: OverloadFigures) => number): number => median(all.map(read));
  const classOf = (name: string): ClassFigures => {
    const own = (read: (figures: ClassFigures) => number): number => of(({ classes }) => read(classes[name]));
    return {
      served: own((f) => f.served),
      refused: own((f) => f.refused),
      other: own((f) => f.other),
      p50_ms: own((f) => f.p50_ms),
      p99_ms: own((f) => f.p99_ms),
      refusal_ms: own((f) => f.refusal_ms),
      quantiles_ms: all[0].classes[name].quantiles_ms.map((_, k) => own((f) => f.quantiles_ms[k])),
    };
  };
  return {
    goodput: of((f) => f.goodput),
    empty_ms: of((f) => f.empty_ms),
    max_active: Math.max(...all.map((f) => f.max_active)),
    idle_after_ms: of((f) => f.idle_after_ms),
    rps: of((f) => f.rps),
    lag_ms: of((f) => f.lag_ms),
    error_share: of((f) => f.error_share),
    classes: Object.fromEntries(CLASSES.map((name) => [name, classOf(name)])),
  };
}

/** What ratios of throughput and P99 are of; of two classes, the first one's P99. */
function main({ closed, open, overload }: Sample): Pick<LoadFigures, "rps" | "p99_ms"> {
  if (overload !== undefined) return { rps: overload.rps, p99_ms: overload.classes[FIRST_CLASS].p99_ms };
  return (closed ?? open)!;
}

function rowOf(contender: Contender, samples: Sample[], reference: Sample[]): Row {
  const ratio = (read: (sample: Sample) => number): number =>
    median(samples.map((sample, k) => read(sample) / read(reference[k])));
  const keys = samples.flatMap((sample) => sample.keys ?? []);
  return {
    contender: label(contender),
    by: contender.by,
    repetitions: samples.length,
    closed: medians(samples.flatMap((sample) => sample.closed ?? [])),
    open: medians(samples.flatMap((sample) => sample.open ?? [])),
    overload: overloadMedians(samples.flatMap((sample) => sample.overload ?? [])),
    cpu_us: median(samples.map((sample) => sample.cpu_us)),
    shares: samples[0].shares.map((_, node) => median(samples.map((sample) => sample.shares[node]))),
    ...(keys.length > 0 && {
      hit_ratio: median(keys.map((figures) => figures.hit_ratio)),
      hot_nodes: median(keys.map((figures) => figures.hot_nodes)),
    }),
    rps_ratio: ratio((sample) => main(sample).rps),
    p99_ratio: ratio((sample) => main(sample).p99_ms),
    cpu_ratio: ratio((sample) => sample.cpu_us),
    shares_over_time: samples.at(-1)!.shares_over_time,
  };
}

/**
 * @param samples by contender, in the order of the repetitions; at least one each
 * @param failures contenders without samples
 */
export function summarise(
  scenario: Scenario,
  samples: Map<Contender, Sample[]>,
  failures: Failure[] = [],
): ScenarioResult {
  const [reference = []] = [...samples.values()];
  const rows = [...samples].map(([contender, own]) => rowOf(contender, own, reference));
  const { name, about, workers, connections, rate, classes } = scenario;
  const offered = classes === undefined ? {} : { offered: { ...classes, capacity_rps: capacityOf(scenario, classes) } };
  return {
    scenario: name,
    about,
    workers,
    connections,
    rate,
    ...offered,
    rows,
    failures,
    targets: targetsOf(name, rows),
  };
}
