/// <reference lib="dom" />
/** Runs in the browser: draws the report's charts out of the data in the page. */
import { addChart, percentText } from "../page/chart";
import type { Report, ReportRun } from "./report";

/** Smallest latency drawn: the scale is logarithmic. */
const LEAST_MS = 0.1;

const secondsOf = (run: ReportRun, values: number[]): number[] =>
  values.map((_, at) => (at * run.series.step_ms) / 1000);

/** The end of the axis: the largest value, rounded up to a tenth. */
const largest = (lines: (number | null)[][]): number =>
  Math.min(1, Math.ceil(10 * Math.max(0.1, ...lines.flat().map((value) => value ?? 0)) + 0.1) / 10);

/** Share of the tries by node; in a step without tries there is none. */
function sharesOf(run: ReportRun): (number | null)[][] {
  const totals = run.series.p50_ms.map((_, at) => run.series.tries.reduce((sum, node) => sum + node[at], 0));
  return run.series.tries.map((node) => node.map((count, at) => (totals[at] > 0 ? count / totals[at] : null)));
}

function latencies(parent: HTMLElement, runs: ReportRun[], figure: "p50_ms" | "p99_ms"): void {
  addChart(parent, {
    title: `${figure === "p50_ms" ? "P50" : "P99"} latency over time`,
    x_label: "time, s",
    y_label: "answered within, ms",
    xs: secondsOf(runs[0], runs[0].series[figure]),
    labels: runs.map(({ player }) => player),
    lines: runs.map(({ series }) => series[figure].map((value) => Math.max(LEAST_MS, value))),
    log: true,
  });
}

function nodeLines(parent: HTMLElement, run: ReportRun, lines: (number | null)[][], what: "share" | "weight"): void {
  addChart(parent, {
    title: `${run.player}: ${what === "share" ? "who gets the requests" : "weights in one worker"}`,
    x_label: "time, s",
    y_label: what === "share" ? "share of the requests" : "weight",
    xs: secondsOf(run, run.series.p50_ms),
    labels: lines.map((_, k) => `n${k + 1}`),
    lines,
    ...(what === "share" && { showY: percentText, y_range: [0, largest(lines)] as [number, number] }),
  });
}

const report = JSON.parse(document.getElementById("data")?.textContent ?? "") as Report;
for (const { name, runs } of report.scenarios) {
  const place = document.getElementById(`charts-${name}`);
  if (place === null) continue;
  latencies(place, runs, "p50_ms");
  latencies(place, runs, "p99_ms");
  for (const run of runs) {
    if (run.series.tries.length === 0) continue;
    nodeLines(place, run, sharesOf(run), "share");
    const { weights } = run.series;
    if (weights.some((node) => node.some((weight) => weight > 0))) nodeLines(place, run, weights, "weight");
  }
}
