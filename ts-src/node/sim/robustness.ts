/**
 * Whether the constants of adaptive fit more than the scenarios they were tuned on: other pools, slots, distributions,
 * time scales and loads, each with adaptive, p2c, least_conn and the bound.
 *   npx tsx ts-src/node/sim/robustness.ts [--seeds 2] [--only time]
 */
import Table from "cli-table3";
import { Command, InvalidArgumentError } from "commander";
import type { Job, Result } from "../../sim/job";
import { runJobs } from "./run";
import { jobOf, parseScenario, type Player } from "./scenario";
import { spread } from "./summary";

/** A scenario as in a file, without its description. */
type Given = Record<string, unknown>;

/** Speeds that nobody told the gateways: the shape of most trouble. Two nodes at a quarter, three at half, five in full. */
function unequal(times = 1, slots = 8): Given[] {
  return [
    { count: 2 * times, slots, speed: 0.25 },
    { count: 3 * times, slots, speed: 0.5 },
    { count: 5 * times, slots },
  ];
}

/** Turns of the neighbours, in requests' times. */
const TURN = 100;

/** A neighbour takes the CPU of three nodes of ten at a time, of each for three turns out of ten. */
function neighbours(request_ms: number): Given {
  const turn_s = (TURN * request_ms) / 1000;
  const events = [{ speed: 0.35, for_s: 3 * turn_s, every_s: 10 * turn_s }];
  return { load: { rho: 0.8 }, nodes: [{ count: 10, stagger_s: turn_s, events }] };
}

/** Requests measured in each run: enough for a P99. */
const REQUESTS = 24000;

/** And at least so long, in requests' times: the neighbours come to all nodes. */
const TIMES = 10 * TURN;

const VARIATIONS: Record<string, Given> = {
  "2 nodes, one at half speed": { load: { rho: 0.7 }, nodes: [{ speed: 0.5 }, {}] },
  "3 nodes, one at a quarter": { load: { rho: 0.7 }, nodes: [{ speed: 0.25 }, { count: 2 }] },
  "30 nodes, unequal": { load: { rho: 0.8 }, nodes: unequal(3) },
  "1 slot, unequal": { load: { rho: 0.7 }, nodes: unequal(1, 1) },
  "32 slots, unequal": { load: { rho: 0.8 }, nodes: unequal(1, 32) },
  "constant work, neighbours": { service: { distribution: "fixed" }, ...neighbours(20) },
  "lognormal work (cv 2), neighbours": { service: { distribution: "lognormal", cv: 2 }, ...neighbours(20) },
  "Pareto work (1.5), unequal": { load: { rho: 0.7 }, service: { distribution: "pareto" }, nodes: unequal() },
  "1 ms of work, unequal": { load: { rho: 0.8 }, service: { mean_ms: 1 }, network_ms: 0.05, nodes: unequal() },
  "1 ms of work, neighbours": { service: { mean_ms: 1 }, network_ms: 0.05, ...neighbours(1) },
  "2 s of work, unequal": { load: { rho: 0.8 }, service: { mean_ms: 2000 }, timeout_ms: 60000, nodes: unequal() },
  "2 s of work, neighbours": { service: { mean_ms: 2000 }, timeout_ms: 60000, ...neighbours(2000) },
  "load of 5 %, unequal": { load: { rho: 0.05 }, nodes: unequal() },
};

const PLAYERS: [name: string, player: Player][] = [
  ["adaptive", { strategy: "adaptive", strategy_options: {} }],
  ["p2c", { strategy: "p2c", strategy_options: {} }],
  ["least_conn", { strategy: "least_conn", strategy_options: {} }],
  ["shared queue", { strategy: "random", strategy_options: {}, bound: "shared_queue" }],
];

/** A run long enough, half as long again before it. */
function jobFor(name: string, player: Player, seed: number): Job {
  const scenario = parseScenario(name, JSON.stringify({ description: name, ...VARIATIONS[name] }));
  const { load, service, nodes } = scenario;
  const capacity = nodes.reduce((sum, { count, slots, speed }) => sum + count * slots * speed, 0);
  const per_s = ((load.rho ?? 1) * capacity * 1000) / service.mean_ms;
  const duration_s = Math.ceil(Math.max(REQUESTS / per_s, (TIMES * service.mean_ms) / 1000));
  return jobOf({ ...scenario, duration_s, warmup_s: Math.ceil(duration_s / 2) }, player, seed);
}

/** One line of the table. */
function line(name: string, results: Result[], seeds: number): string[] {
  const runsOf = (at: number): Result[] => results.slice(at * seeds, (at + 1) * seeds);
  const bound = runsOf(PLAYERS.length - 1);
  const digits = bound[0].p99_ms < 20 ? 2 : 0;
  const cells = PLAYERS.map((_, at) => {
    const figure = (key: "p50_ms" | "p99_ms"): string =>
      spread(runsOf(at).map((run) => run[key])).median.toFixed(digits);
    return `${figure("p50_ms")} / ${figure("p99_ms")}`;
  });
  const distance = spread(runsOf(0).map((run, k) => run.p99_ms / bound[k].p99_ms - 1)).median * 100;
  return [name, ...cells, `${distance >= 0 ? "+" : ""}${distance.toFixed(1)} %`];
}

function count(text: string): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1 || value > 1000)
    throw new InvalidArgumentError("a whole number, 1 to 1000.");
  return value;
}

async function main(options: { seeds: number; only: string; jobs: number }): Promise<void> {
  const { seeds, only, jobs: width } = options;
  const table = new Table({
    head: ["P50 / P99 ms", ...PLAYERS.map(([name]) => name), "adaptive's P99 vs shared queue"],
    colAligns: ["left", ...PLAYERS.map(() => "right" as const), "right"],
    style: { head: [], border: [], compact: true },
  });
  for (const name of Object.keys(VARIATIONS).filter((variation) => variation.includes(only))) {
    const jobs = PLAYERS.flatMap(([, player]) => Array.from({ length: seeds }, (_, k) => jobFor(name, player, k + 1)));
    table.push(line(name, await runJobs(jobs, width, () => undefined), seeds));
    process.stderr.write(`  ${name}\n`);
  }
  process.stdout.write(`${table.toString()}\nmedians of ${seeds} seeds, four gateways\n`);
}

const program = new Command("simulate-robustness")
  .option("--seeds <n>", "runs of each", count, 2)
  .option("--jobs <n>", "runs at a time", count, 2)
  .option("--only <text>", "variations whose names contain this", "");
program.parse();
await main(program.opts<{ seeds: number; only: string; jobs: number }>());
