/// <reference lib="dom" />
/** Runs in the browser: draws the report's charts out of the data in the page. */
import uPlot from "uplot";
import type { Report, ReportRun } from "./report";

/** Colours that differ also in grey and for the colour-blind (Okabe & Ito). */
const PALETTE = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#666666", "#000000"];

const colour = (k: number): string => PALETTE[k % PALETTE.length];

function chart(parent: Element, title: string, step_ms: number, labels: string[], lines: number[][]): void {
  const seconds = lines[0].map((_, at) => (at * step_ms) / 1000);
  const series = labels.map((label, k) => ({
    label,
    stroke: colour(k),
    width: 1.5,
    dash: k >= PALETTE.length ? [4, 3] : [],
  }));
  new uPlot(
    {
      title,
      width: Math.min(1100, window.innerWidth - 60),
      height: 260,
      scales: { x: { time: false } },
      series: [{ label: "s" }, ...series],
    },
    [seconds, ...lines],
    parent as HTMLElement,
  );
}

/** Share of the tries by node. */
function sharesOf(run: ReportRun): number[][] {
  const totals = run.series.p50_ms.map((_, at) => run.series.tries.reduce((sum, node) => sum + node[at], 0));
  return run.series.tries.map((node) => node.map((count, at) => (totals[at] > 0 ? count / totals[at] : 0)));
}

const report = JSON.parse(document.getElementById("data")?.textContent ?? "") as Report;
for (const scenario of report.scenarios) {
  const place = document.getElementById(`charts-${scenario.name}`);
  if (place === null) continue;
  const names = scenario.runs.map((run) => run.player);
  const step_ms = scenario.runs[0].series.step_ms;
  for (const figure of ["p50_ms", "p99_ms"] as const) {
    const lines = scenario.runs.map((run) => run.series[figure]);
    chart(place, `${figure === "p50_ms" ? "P50" : "P99"} latency, ms`, step_ms, names, lines);
  }
  for (const run of scenario.runs) {
    if (run.series.tries.length === 0) continue;
    const nodes = run.series.tries.map((_, k) => `n${k + 1}`);
    chart(place, `${run.player}: share of requests by node`, step_ms, nodes, sharesOf(run));
    if (run.series.weights.some((node) => node.some((weight) => weight > 0))) {
      chart(place, `${run.player}: weights in one worker`, step_ms, nodes, run.series.weights);
    }
  }
}
