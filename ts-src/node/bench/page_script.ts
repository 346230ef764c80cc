/// <reference lib="dom" />
/** Runs in the browser: draws the benchmark's charts out of the data in the page. */
import { addChart, percentText } from "../page/chart";
import type { PageData } from "./page";
import type { Row, ScenarioResult } from "./results";

/** The tail takes as much room as the rest: 50 %, 90 %, 99 %, 99.9 % are equally far apart. */
const stretch = (share: number): number => -Math.log10(1 - share);
const shareText = (x: number): string => `${Number((100 * (1 - 10 ** -x)).toFixed(2))} %`;
const MARKS = [0.5, 0.9, 0.99, 0.999, 0.9999].map(stretch);

/** Smallest latency drawn: the scale is logarithmic. */
const LEAST_MS = 0.05;

const data = JSON.parse(document.getElementById("data")?.textContent ?? "") as PageData;

function latencies(parent: HTMLElement, title: string, lines: { label: string; quantiles_ms: number[] }[]): void {
  if (lines.length === 0) return;
  addChart(parent, {
    title,
    x_label: "share of the requests",
    y_label: "answered within, ms",
    xs: data.quantiles.map(stretch),
    labels: lines.map(({ label }) => label),
    lines: lines.map(({ quantiles_ms }) => quantiles_ms.map((value) => Math.max(LEAST_MS, value))),
    showX: shareText,
    marks: MARKS,
    log: true,
  });
}

function loops(parent: HTMLElement, { rows }: ScenarioResult): void {
  for (const loop of ["closed", "open"] as const) {
    const lines = rows.flatMap((row) => {
      const figures = row[loop];
      return figures === undefined ? [] : [{ label: row.contender, quantiles_ms: figures.quantiles_ms }];
    });
    latencies(parent, `Latency, ${loop} loop`, lines);
  }
}

function classes(parent: HTMLElement, { rows }: ScenarioResult): void {
  for (const name of Object.keys(rows[0]?.overload?.classes ?? {})) {
    const lines = rows.flatMap(({ contender, overload }) => {
      const quantiles_ms = overload?.classes[name]?.quantiles_ms;
      return quantiles_ms === undefined ? [] : [{ label: contender, quantiles_ms }];
    });
    latencies(parent, `Latency of the ${name} requests that were served`, lines);
  }
}

function shares(parent: HTMLElement, row: Row, most: number): void {
  if (row.shares_over_time.length < 2) return;
  addChart(parent, {
    title: `${row.contender}: who gets the requests`,
    x_label: "time, s",
    y_label: "share of the requests",
    xs: row.shares_over_time.map((_, k) => ((k + 1) * data.share_every_ms) / 1000),
    labels: row.shares.map((_, k) => `node ${k + 1}`),
    lines: row.shares.map((_, node) => row.shares_over_time.map((at) => at[node])),
    showY: percentText,
    // The same for all gateways, so that they can be compared at a glance.
    y_range: [0, most],
  });
}

/** Largest share that any gateway gave a node, rounded up: the end of the axis. */
function largestShare({ rows }: ScenarioResult): number {
  const shares_seen = rows.flatMap(({ shares_over_time }) => shares_over_time.flat());
  return Math.min(1, Math.ceil(10 * Math.max(0.1, ...shares_seen) + 0.1) / 10);
}

for (const result of data.results) {
  const parent = document.getElementById(`charts-${result.scenario}`);
  if (parent === null) continue;
  loops(parent, result);
  classes(parent, result);
  const most = largestShare(result);
  for (const row of result.rows) shares(parent, row, most);
}
