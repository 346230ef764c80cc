import Table from "cli-table3";
import type pc from "picocolors";
import type { RefusedRow, Row, Spread, Summary, Verdict } from "./summary";

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
];

/** A column that only some scenarios have. */
interface Extra {
  title: string;
  cell: (row: Row) => string;
}

function extras({ rows }: Summary): Extra[] {
  const list: Extra[] = [];
  if (rows.some((row) => row.hit_share.median >= 0))
    list.push({ title: "hits %", cell: (row) => percent(row.hit_share, 1) });
  if (rows.some((row) => row.hot_key_nodes.median >= 0))
    list.push({ title: "hot key nodes", cell: (row) => row.hot_key_nodes.median.toFixed(0) });
  if (rows.some((row) => row.refused.length > 0))
    list.push({ title: "refused (P99 ms until then)", cell: (row) => row.refused.map(refusalText).join("\n") });
  rows[0].classes.forEach(({ name }, at) => {
    list.push({
      title: `${name} P50/P99 ms`,
      cell: (row) => `${ms(row.classes[at].p50_ms)} / ${ms(row.classes[at].p99_ms)}`,
    });
    if (rows.some((row) => row.classes[at].error_share.median > 0))
      list.push({ title: `${name} errors %`, cell: (row) => percent(row.classes[at].error_share, 2) });
    if (rows.some((row) => row.classes[at].refused_share.median > 0))
      list.push({ title: `${name} refused %`, cell: (row) => percent(row.classes[at].refused_share, 2) });
  });
  return list;
}

const ms = ({ median }: Spread): string => median.toFixed(1);
const percent = ({ median }: Spread, digits: number): string => (median * 100).toFixed(digits);

function refusalText({ reason, share, p99_ms }: RefusedRow): string {
  return `${reason} ${percent(share, 1)} % (${ms(p99_ms)})`;
}

function verdictText({ figure, class: of_class, at_most, at_least, met }: Verdict, colours: Colours): string {
  const limit = at_most === undefined ? `≥ ${at_least}` : `≤ ${at_most}`;
  const what = of_class === undefined ? figure : `${of_class} ${figure}`;
  return met ? colours.green(`met: ${what} ${limit}`) : colours.red(`missed: ${what} ${limit}`);
}

function distanceText(distance: number): string {
  return Number.isNaN(distance) ? "–" : `${distance >= 0 ? "+" : ""}${distance.toFixed(1)} %`;
}

function cells(row: Row, more: Extra[], colours: Colours): string[] {
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
    row.player === "shared_queue" ? "bound" : distanceText(row.p99_distance.median * 100),
    ...more.map(({ cell }) => cell(row)),
    row.verdicts.map((verdict) => verdictText(verdict, colours)).join("\n"),
  ];
  return row.is_bound ? cells.map((cell) => colours.dim(cell)) : cells;
}

/** What the load was, in a line. */
export function loadLine({ rate_per_s, capacity_per_s, seeds }: Summary): string {
  const load = `${rate_per_s.toFixed(0)} requests/s on a capacity of ${capacity_per_s.toFixed(0)}`;
  return `${load}; medians of ${seeds} ${seeds === 1 ? "seed" : "seeds"}`;
}

/** What the library complained of in the runs, a line each. */
export function faultLines({ rows }: Summary): string[] {
  return rows.flatMap((row) => row.faults.map((fault) => `${row.player}: ${fault}`));
}

/** The table's head and rows. */
export function summaryCells(summary: Summary, colours: Colours): { head: string[]; rows: string[][] } {
  const more = extras(summary);
  return {
    head: [...HEAD, ...more.map(({ title }) => title), "target"],
    rows: summary.rows.map((row) => cells(row, more, colours)),
  };
}

/** One scenario as people read it. */
export function summaryTable(summary: Summary, colours: Colours): string {
  const { head, rows } = summaryCells(summary, colours);
  const table = new Table({
    head: head.map((title) => colours.bold(title)),
    colAligns: ["left", ...head.slice(2).map(() => "right" as const), "left"],
    style: { head: [], border: [], compact: true },
  });
  table.push(...rows);
  return [
    `${colours.bold(summary.scenario)}: ${summary.description}`,
    loadLine(summary),
    table.toString(),
    ...faultLines(summary).map((line) => `  ${line}`),
    "",
  ].join("\n");
}
