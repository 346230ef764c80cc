import Table from "cli-table3";
import type pc from "picocolors";
import type { Row, Spread, Summary, Verdict } from "./summary";

type Colours = ReturnType<typeof pc.createColors>;

const HEAD = [
  "strategy",
  "P50 ms",
  "P99 ms",
  "min–max",
  "P99.9 ms",
  "wait ms",
  "errors %",
  "goodput %",
  "peak/mean",
  "P99 vs shared queue",
  "target",
];

const ms = ({ median }: Spread): string => median.toFixed(1);
const percent = ({ median }: Spread, digits: number): string => (median * 100).toFixed(digits);

function verdictText({ figure, at_most, at_least, met }: Verdict, colours: Colours): string {
  const limit = at_most === undefined ? `≥ ${at_least}` : `≤ ${at_most}`;
  return met ? colours.green(`met: ${figure} ${limit}`) : colours.red(`missed: ${figure} ${limit}`);
}

function cells(row: Row, colours: Colours): string[] {
  const distance = row.p99_distance.median * 100;
  const cells = [
    row.player,
    ms(row.p50_ms),
    ms(row.p99_ms),
    `${row.p99_ms.min.toFixed(1)}–${row.p99_ms.max.toFixed(1)}`,
    ms(row.p999_ms),
    row.mean_wait_ms.median.toFixed(2),
    percent(row.error_share, 3),
    percent(row.goodput_share, 1),
    row.peak_to_mean.median === 0 ? "–" : row.peak_to_mean.median.toFixed(2),
    row.player === "shared_queue" ? "bound" : `${distance >= 0 ? "+" : ""}${distance.toFixed(1)} %`,
    row.verdicts.map((verdict) => verdictText(verdict, colours)).join("\n"),
  ];
  return row.is_bound ? cells.map((cell) => colours.dim(cell)) : cells;
}

/** One scenario as people read it. */
export function summaryTable(summary: Summary, colours: Colours): string {
  const table = new Table({
    head: HEAD.map((title) => colours.bold(title)),
    colAligns: ["left", ...HEAD.slice(2).map(() => "right" as const), "left"],
    style: { head: [], border: [], compact: true },
  });
  for (const row of summary.rows) table.push(cells(row, colours));
  const load = `${summary.rate_per_s.toFixed(0)} requests/s on a capacity of ${summary.capacity_per_s.toFixed(0)}`;
  const faults = summary.rows.flatMap((row) => row.faults.map((fault) => `  ${row.player}: ${fault}`));
  return [
    `${colours.bold(summary.scenario)}: ${summary.description}`,
    `${load}; medians of ${summary.seeds} ${summary.seeds === 1 ? "seed" : "seeds"}`,
    table.toString(),
    ...faults,
    "",
  ].join("\n");
}
