/** Results as text. */
import Table from "cli-table3";
import type { Colors } from "picocolors/types";
import type { LoadFigures } from "./measure";
import type { Row, ScenarioResult } from "./results";

const ms = (value: number): string => (value < 10 ? value.toFixed(2) : value.toFixed(1));
const percent = (value: number): string => (value === 0 ? "0" : `${(100 * value).toFixed(value < 0.1 ? 2 : 1)} %`);

function loadCells(load: LoadFigures | undefined, with_rps: boolean): string[] {
  if (load === undefined) return with_rps ? ["–", "–", "–", "–"] : ["–", "–", "–"];
  const cells = [ms(load.p50_ms), ms(load.p99_ms), ms(load.p999_ms)];
  return with_rps ? [load.rps.toFixed(0), ...cells] : cells;
}

function cellsOf(row: Row, result: ScenarioResult): string[] {
  const load = row.closed ?? row.open;
  return [
    row.contender,
    ...(result.connections > 0 ? [...loadCells(row.closed, true), row.rps_ratio.toFixed(3)] : []),
    ...(result.rate > 0 ? loadCells(row.open, false) : []),
    percent(load?.error_share ?? 0),
    row.cpu_us.toFixed(1),
    row.cpu_ratio.toFixed(3),
    row.shares.length > 0 ? row.shares.map((share) => (100 * share).toFixed(0)).join(" ") : "–",
    ...(row.hit_ratio === undefined ? [] : [percent(row.hit_ratio), String(row.hot_nodes)]),
  ];
}

function headOf(result: ScenarioResult): string[] {
  return [
    "gateway",
    ...(result.connections > 0 ? ["req/s", "P50 ms", "P99", "P99.9", "req/s ratio"] : []),
    ...(result.rate > 0 ? ["open P50", "P99", "P99.9"] : []),
    "errors",
    "CPU µs/req",
    "ratio",
    "share by node %",
    ...(result.rows[0].hit_ratio === undefined ? [] : ["hits", "hot on"]),
  ];
}

/** What the load was, in a line. */
export function loadLine(result: ScenarioResult): string {
  const closed = result.connections > 0 ? `closed loop, ${result.connections} connections` : "";
  const open = result.rate > 0 ? `open loop, ${result.rate} requests/s, latency from when each was due` : "";
  const loops = [closed, open].filter((text) => text !== "").join("; ");
  return `${result.workers} worker${result.workers > 1 ? "s" : ""}; ${loops}; medians of ${result.rows[0].repetitions}`;
}

export function targetLines(result: ScenarioResult): string[] {
  return result.targets.map(({ text, value, limit, ok }) => {
    return `${ok ? "holds" : "MISSED"}: ${text} ${value.toFixed(3)} (target ${limit})`;
  });
}

/** A scenario's table with what belongs to it; ratios are to the first row. */
export function resultText(result: ScenarioResult, colours: Colors): string {
  const table = new Table({
    head: headOf(result),
    colAligns: headOf(result).map((_, k) => (k === 0 ? "left" : "right")),
    style: { head: colours.isColorSupported ? ["bold"] : [], border: [] },
  });
  for (const row of result.rows) table.push(cellsOf(row, result));
  const targets = targetLines(result).map((line) =>
    line.startsWith("holds") ? colours.green(line) : colours.red(line),
  );
  return [`${colours.bold(result.scenario)}  ${result.about}`, loadLine(result), table.toString(), ...targets].join(
    "\n",
  );
}
