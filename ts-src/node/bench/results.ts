/** From samples to what is reported: medians, and ratios within each repetition. */
import { type Contender, label } from "./contenders";
import type { LoadFigures, Sample } from "./measure";
import type { Scenario } from "./scenarios";

export interface Row {
  contender: string;
  by: Contender["by"];
  repetitions: number;
  closed?: LoadFigures;
  open?: LoadFigures;
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
  rows: Row[];
  targets: Target[];
}

/** What scenarios promise, and whether it holds in this run. */
export interface Target {
  text: string;
  value: number;
  limit: number;
  ok: boolean;
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
  };
}

const main = (sample: Sample): LoadFigures => (sample.closed ?? sample.open)!;

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

const atMost = (text: string, value: number, limit: number): Target => ({ text, value, limit, ok: value <= limit });
const atLeast = (text: string, value: number, limit: number): Target => ({ text, value, limit, ok: value >= limit });

function overheadTargets(rows: Row[]): Target[] {
  const row = rows.find(({ contender }) => contender === "ax adaptive");
  if (row === undefined || rows[0].contender !== "nginx round robin") return [];
  return [
    atLeast("throughput, adaptive ÷ nginx round robin", row.rps_ratio, 0.9),
    atMost("gateway CPU per request, adaptive ÷ nginx round robin", row.cpu_ratio, 1.15),
  ];
}

function slowNodeTargets(rows: Row[]): Target[] {
  const adaptive = rows.find(({ contender }) => contender === "ax adaptive");
  const absent = rows.find(({ contender }) => contender === "ax adaptive, slow node absent");
  const peers = rows.filter(({ by }) => by !== "ax");
  const targets: Target[] = [];
  if (adaptive?.closed === undefined) return targets;
  if (absent?.closed !== undefined) {
    const ratio = adaptive.closed.p99_ms / absent.closed.p99_ms;
    targets.push(atMost("P99, adaptive ÷ adaptive without the slow node", ratio, 1.3));
  }
  if (peers.length > 0) {
    const best_ms = Math.min(...peers.map((row) => row.closed!.p99_ms));
    const best_rps = Math.max(...peers.map((row) => row.closed!.rps));
    targets.push(atMost("P99, adaptive ÷ best of the others", adaptive.closed.p99_ms / best_ms, 0.5));
    targets.push(atLeast("throughput, adaptive ÷ best of the others", adaptive.closed.rps / best_rps, 1));
  }
  return targets;
}

/** @param samples by contender, in the order of the repetitions */
export function summarise(scenario: Scenario, samples: Map<Contender, Sample[]>): ScenarioResult {
  const [reference] = [...samples.values()];
  const rows = [...samples].map(([contender, own]) => rowOf(contender, own, reference));
  const { name, about, workers, connections, rate } = scenario;
  const targets =
    name === "overhead" ? overheadTargets(rows) : name.startsWith("slow_node") ? slowNodeTargets(rows) : [];
  return { scenario: name, about, workers, connections, rate, rows, targets };
}
