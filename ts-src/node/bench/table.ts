/** Results as a table: of text, and as cells for the page. */
import Table from "cli-table3";
import type { Colors } from "picocolors/types";
import type { OverloadFigures } from "./class_load";
import type { LoadFigures } from "./measure";
import type { Picks } from "./picks";
import type { Row, ScenarioResult } from "./results";
import { CLASSES } from "./two_classes";

const ms = (value: number): string => (value < 10 ? value.toFixed(2) : value.toFixed(1));
const percent = (value: number): string => (value === 0 ? "0" : `${(100 * value).toFixed(value < 0.1 ? 2 : 1)} %`);

function loadCells(load: LoadFigures | undefined, with_rps: boolean): string[] {
  if (load === undefined) return with_rps ? ["–", "–", "–", "–"] : ["–", "–", "–"];
  const cells = [ms(load.p50_ms), ms(load.p99_ms), ms(load.p999_ms)];
  return with_rps ? [load.rps.toFixed(0), ...cells] : cells;
}

function overloadCells({ goodput, empty_ms, max_active, idle_after_ms, classes }: OverloadFigures): string[] {
  const of = CLASSES.flatMap((name) => {
    const { served, refused, other, p50_ms, p99_ms } = classes[name];
    return [percent(served / Math.max(1, served + refused + other)), ms(p50_ms), ms(p99_ms)];
  });
  const refusal_ms = Math.max(...CLASSES.map((name) => classes[name].refusal_ms));
  return [goodput.toFixed(3), ms(empty_ms), ...of, ms(refusal_ms), String(max_active), idle_after_ms.toFixed(0)];
}

const OVERLOAD_HEAD = [
  ...["goodput", "empty\nms"],
  ...CLASSES.flatMap((name) => [`${name}\nserved`, "P50 ms", "P99"]),
  ...["refusal\nms", "most at\na node", "idle\nafter ms"],
];

function cellsOf(row: Row, result: ScenarioResult): string[] {
  const errors = row.overload ?? row.closed ?? row.open;
  return [
    row.contender,
    ...(row.overload === undefined ? [] : overloadCells(row.overload)),
    ...(result.connections > 0 ? [...loadCells(row.closed, true), row.rps_ratio.toFixed(3)] : []),
    ...(result.rate > 0 ? loadCells(row.open, false) : []),
    percent(errors?.error_share ?? 0),
    row.cpu_us.toFixed(1),
    row.cpu_ratio.toFixed(3),
    row.shares.length > 0 ? row.shares.map((share) => (100 * share).toFixed(0)).join(" ") : "–",
    ...(row.hit_ratio === undefined ? [] : [percent(row.hit_ratio), String(row.hot_nodes)]),
  ];
}

function headOf(result: ScenarioResult): string[] {
  return [
    "gateway",
    ...(result.offered === undefined ? [] : OVERLOAD_HEAD),
    ...(result.connections > 0 ? ["req/s", "P50 ms", "P99", "P99.9", "req/s\nratio"] : []),
    ...(result.rate > 0 ? ["open\nP50 ms", "P99", "P99.9"] : []),
    "errors",
    "CPU\nµs/req",
    "CPU\nratio",
    "share by\nnode %",
    ...(result.rows[0]?.hit_ratio === undefined ? [] : ["hits", "hot on"]),
  ];
}

/** What the load was, in a line. */
export function loadLine(result: ScenarioResult): string {
  const { connections, rate, offered, workers } = result;
  const closed = connections > 0 ? `closed loop, ${connections} connections` : "";
  const open = rate > 0 ? `open loop, ${rate} requests/s, latency from when each was due` : "";
  const classes =
    offered === undefined
      ? ""
      : `open loop, ${offered.overload * offered.capacity_rps} requests/s where nodes can take ${offered.capacity_rps}, ` +
        `${offered.places} at a time each; who waits, waits ${offered.queue_timeout_ms} ms at most`;
  const loops = [closed, open, classes].filter((text) => text !== "").join("; ");
  return `${workers} worker${workers > 1 ? "s" : ""}; ${loops}; medians of ${result.rows[0]?.repetitions ?? 0}`;
}

export function targetLines(result: ScenarioResult): string[] {
  return result.targets.map(({ text, value, limit, ok }) => {
    return `${ok ? "holds" : "MISSED"}: ${text} ${value.toFixed(3)} (target ${limit})`;
  });
}

/** Contenders without a row of figures, a line each. */
export function failureLines(result: ScenarioResult): string[] {
  return result.failures.map(({ contender, reason }) => `FAILED: ${contender}: ${reason}`);
}

/** Later than this the load generator was not ready itself, and percentiles say more about the machine, ms. */
const LAG_MAX_MS = 50;

/** Where the open loop's figures are not the gateways', a line that says so. */
export function lagLines({ rows }: ScenarioResult): string[] {
  const late = rows.flatMap((row) => {
    const lag_ms = row.open?.lag_ms ?? row.overload?.lag_ms ?? 0;
    return lag_ms > LAG_MAX_MS ? [`${row.contender} ${lag_ms.toFixed(0)} ms`] : [];
  });
  if (late.length === 0) return [];
  const what = "UNSURE: the machine was too busy to send in time; latencies of the open loop have that in them";
  return [`${what}: ${late.join(", ")}`];
}

/** A table's head and rows; the first column is text, the others are figures. */
export interface Cells {
  head: string[];
  rows: string[][];
}

export function resultCells(result: ScenarioResult): Cells {
  return { head: headOf(result), rows: result.rows.map((row) => cellsOf(row, result)) };
}

export function pickCells({ rows }: Picks): Cells {
  return {
    head: ["strategy", "10 nodes", "64", "1000", "10,000", "whole request,\n10 nodes"],
    rows: rows.map((row) => [
      row.strategy,
      ...[row.pick_ns_10, row.pick_ns_64, row.pick_ns_1000, row.pick_ns_10000, row.request_ns_10].map(String),
    ]),
  };
}

/** What the table of picks shows. */
export const PICKS_ABOUT = "CPU of one choice, ns; of a whole request: choice, counting, log phase.";

function textTable({ head, rows }: Cells, colours: Colors): string {
  const table = new Table({
    head,
    colAligns: head.map((_, k) => (k === 0 ? "left" : "right")),
    style: { head: colours.isColorSupported ? ["bold"] : [], border: [] },
  });
  table.push(...rows);
  return table.toString();
}

/** A scenario's table with what belongs to it; ratios are to the first row. */
export function resultText(result: ScenarioResult, colours: Colors): string {
  const targets = targetLines(result).map((line) =>
    line.startsWith("holds") ? colours.green(line) : colours.red(line),
  );
  return [
    `${colours.bold(result.scenario)}  ${result.about}`,
    loadLine(result),
    ...(result.rows.length > 0 ? [textTable(resultCells(result), colours)] : []),
    ...failureLines(result).map((line) => colours.red(line)),
    ...lagLines(result).map((line) => colours.yellow(line)),
    ...targets,
  ].join("\n");
}

export function picksText(picks: Picks, colours: Colors): string {
  const jit = `JIT check of the hot paths: ${picks.jit}`;
  return [`${colours.bold("pick")}  ${PICKS_ABOUT}`, textTable(pickCells(picks), colours), jit].join("\n");
}
