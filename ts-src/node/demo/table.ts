import Table from "cli-table3";
import { cpus } from "node:os";
import pc from "picocolors";
import { CONNECTIONS, type Cpu, type Figures, NODES, WARM_UP_S, WORKERS } from "./scenario";

/** Colours for a terminal; none when piped or NO_COLOR is set (picocolors alone would colour pipes under CI). */
export function colours(stream: { isTTY?: boolean }): ReturnType<typeof pc.createColors> {
  return pc.createColors(stream.isTTY === true && (process.env.NO_COLOR ?? "") === "" && process.env.TERM !== "dumb");
}

/** What is compared, and how, in words. */
export function explanation(duration_s: number): string {
  return [
    `${NODES} nodes on this machine: each answers after an exponentially distributed time with a P99 of 10 ms,`,
    `one of them (the slow node) with a P99 of 80 ms. A gateway with ${WORKERS} workers, started afresh for each`,
    `strategy, is kept busy by wrk with ${CONNECTIONS} requests under way at any time: ${WARM_UP_S} s to warm up, then`,
    `${duration_s} s measured. "nginx" picks by itself, or "ax" (lua-resty-ax) picks for it.`,
  ].join("\n");
}

const NO_CPU: Cpu = { demo_cores: 0, all_cores: 0 };

const HEAD = ["strategy", "picked by", "QPS", "P50 ms", "P99 ms", "P99.9 ms", "errors", "slow node's share"];

/** The table, one strategy a line; the lowest P99 stands out where there are colours. */
export function table(results: Figures[], colour: ReturnType<typeof pc.createColors>): string {
  const lowest_p99_ms = Math.min(...results.map((result) => result.p99_ms));
  const rows = new Table({
    head: HEAD.map((title) => colour.bold(title)),
    colAligns: ["left", "left", "right", "right", "right", "right", "right", "right"],
    style: { head: [], border: [], compact: true },
  });
  for (const result of results) {
    const cells = [
      result.strategy,
      result.by,
      result.qps.toFixed(0),
      result.p50_ms.toFixed(1),
      result.p99_ms.toFixed(1),
      result.p999_ms.toFixed(1),
      String(result.errors),
      `${(result.slow_node_share * 100).toFixed(2)} %`,
    ];
    rows.push(result.p99_ms === lowest_p99_ms ? cells.map((cell) => colour.green(cell)) : cells);
  }
  return rows.toString();
}

/** Share of the cores from which on the machine is taken for the limit. */
const BUSY_SHARE = 0.85;

/** Whether the machine itself, or what else ran on it, may have been the limit. */
export function machineNote(results: Figures[]): string {
  const cores = cpus().length;
  const busiest = results.reduce((most, { cpu }) => (cpu.all_cores > most.all_cores ? cpu : most), NO_CPU);
  const others = Math.max(0, busiest.all_cores - busiest.demo_cores);
  const note =
    `At the busiest, the demo kept ${busiest.demo_cores.toFixed(1)} of ${cores} cores busy, ` +
    `and other programs ${others.toFixed(1)}`;
  return busiest.all_cores < BUSY_SHARE * cores
    ? `${note}: the machine was not the limit.`
    : `${note}:\nthe machine was (nearly) the limit, and the figures say less about the strategies than they would elsewhere.`;
}
