/// <reference lib="dom" />
/** Runs in the browser: draws the benchmark's charts out of the data in the page. */
import uPlot from "uplot";
import type { PageData } from "./page";
import type { Row } from "./results";

/** Colours that differ also in grey and for the colour-blind (Okabe & Ito). */
const PALETTE = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#666666", "#000000"];

interface ChartOptions {
  title: string;
  x_label: string;
  xs: number[];
  labels: string[];
  lines: number[][];
  /** Text of a value of x. */
  showX?: (x: number) => string;
  /** Values of x that get a mark. */
  marks?: number[];
  log?: boolean;
}

function chart(parent: HTMLElement, options: ChartOptions): void {
  const { title, x_label, xs, labels, lines, showX = String, marks, log = false } = options;
  new uPlot(
    {
      title,
      width: Math.min(1100, window.innerWidth - 60),
      height: 280,
      scales: { x: { time: false }, y: log ? { distr: 3 } : {} },
      axes: [
        { values: (_, values) => values.map(showX), ...(marks && { splits: () => marks }) },
        log ? { values: (_, values) => values.map((value) => (value === null ? "" : String(value))) } : {},
      ],
      series: [
        { label: x_label, value: (_, x) => (x === null ? "" : showX(x)) },
        ...labels.map((label, k) => ({
          label,
          stroke: PALETTE[k % PALETTE.length],
          width: 1.5,
          dash: k >= PALETTE.length ? [4, 3] : [],
        })),
      ],
    },
    [xs, ...lines],
    parent,
  );
}

/** The tail takes as much room as the rest: 50 %, 90 %, 99 %, 99.9 % are equally far apart. */
const stretch = (share: number): number => -Math.log10(1 - share);
const share = (x: number): string => `${Number((100 * (1 - 10 ** -x)).toFixed(2))} %`;
const MARKS = [0.5, 0.9, 0.99, 0.999, 0.9999].map(stretch);

/** Smallest latency drawn: the scale is logarithmic. */
const LEAST_MS = 0.05;

const data = JSON.parse(document.getElementById("data")?.textContent ?? "") as PageData;

function latencies(parent: HTMLElement, rows: Row[], loop: "closed" | "open"): void {
  const drawn = rows.filter((row) => row[loop] !== undefined);
  if (drawn.length === 0) return;
  chart(parent, {
    title: `Latency, ${loop} loop, ms, by share of the requests`,
    x_label: "share",
    xs: data.quantiles.map(stretch),
    labels: drawn.map((row) => row.contender),
    lines: drawn.map((row) => row[loop]!.quantiles_ms.map((value) => Math.max(LEAST_MS, value))),
    showX: share,
    marks: MARKS,
    log: true,
  });
}

function shares(parent: HTMLElement, row: Row): void {
  if (row.shares_over_time.length < 2) return;
  chart(parent, {
    title: `${row.contender}: share of the requests by node, over time`,
    x_label: "s",
    xs: row.shares_over_time.map((_, k) => ((k + 1) * data.share_every_ms) / 1000),
    labels: row.shares.map((_, k) => `node ${k + 1}`),
    lines: row.shares.map((_, node) => row.shares_over_time.map((at) => at[node])),
  });
}

for (const result of data.results) {
  const parent = document.getElementById(`charts-${result.scenario}`);
  if (parent === null) continue;
  latencies(parent, result.rows, "closed");
  latencies(parent, result.rows, "open");
  for (const row of result.rows) shares(parent, row);
}
