/**
 * Whether the simulator tells the truth: the reference case on real nginx and in the simulator, side by side.
 *   npx tsx ts-src/node/sim/check.ts [--strategy adaptive,round_robin] [--repeats 1] [--part 4] [--json]
 */
import Table from "cli-table3";
import { Command, InvalidArgumentError } from "commander";
import { withKit } from "../testkit";
import { type Figures, type Machine, measureNginx, measureSimulator, medians, type Setup } from "./agreement";

interface Options {
  strategy: string[];
  clients: number;
  think: number;
  part: number;
  repeats: number;
  json?: boolean;
}

interface Comparison {
  setup: Setup;
  machine: Machine;
  nginx: Figures;
  simulator: Figures;
}

/**
 * wrk adds samples for answers that take longer than twice the time between a client's requests
 * (its correction of coordinated omission), which a simulation does not. Pauses of 40 ms keep the slow
 * node's P99 below that; 80 clients then send about as much as two cores can serve beside everything else.
 */
const CLIENTS = 80;
const THINK_MS = 40;

/** With a probe whose P99 is so much later than its nodes answer, nginx's tail is the machine's, ms. */
const BUSY_MS = 3;

/** Runs in the simulator: cheap, and their median is hardly chance any more. */
const SEEDS = 5;

/** Figures in the order shown: what it says, digits, factor. */
const ROWS: [keyof Figures, string, number, number][] = [
  ["healthy_rate_per_s", "requests/s, all nodes alike", 0, 1],
  ["healthy_p50_ms", "P50 ms, all nodes alike", 2, 1],
  ["healthy_p99_ms", "P99 ms, all nodes alike", 2, 1],
  ["slow_rate_per_s", "requests/s, one node slow", 0, 1],
  ["slow_p50_ms", "P50 ms, one node slow", 2, 1],
  ["slow_p99_ms", "P99 ms, one node slow", 2, 1],
  ["slow_node_share", "slow node's share %", 2, 100],
];

function whole(text: string): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1 || value > 1000)
    throw new InvalidArgumentError("a whole number, 1 to 1000.");
  return value;
}

function difference(real: number, simulated: number): string {
  if (real <= 0) return "–";
  const percent = (simulated / real - 1) * 100;
  return `${percent >= 0 ? "+" : ""}${percent.toFixed(1)} %`;
}

function tableOf({ nginx, simulator }: Comparison): string {
  const table = new Table({
    head: ["", "nginx", "simulator", "difference"],
    colAligns: ["left", "right", "right", "right"],
    style: { head: [], border: [], compact: true },
  });
  for (const [key, title, digits, factor] of ROWS) {
    const text = (value: number): string => (value * factor).toFixed(digits);
    table.push([title, text(nginx[key]), text(simulator[key]), difference(nginx[key], simulator[key])]);
  }
  return table.toString();
}

async function compare(setup: Setup, repeats: number): Promise<Comparison> {
  const figures: Figures[] = [];
  const machines: Machine[] = [];
  for (let run = 1; run <= repeats; run++) {
    process.stderr.write(`  ${setup.strategy} on nginx, ${run} of ${repeats}\n`);
    const measured = await withKit("agreement", (kit) => measureNginx(kit, setup));
    figures.push(measured.figures);
    machines.push(measured.machine);
  }
  const machine = medians(machines);
  const simulated: Figures[] = [];
  for (let seed = 1; seed <= SEEDS; seed++) simulated.push(await measureSimulator(setup, machine, seed));
  return { setup, machine, nginx: medians(figures), simulator: medians(simulated) };
}

function print(comparison: Comparison): void {
  const { setup, machine } = comparison;
  process.stdout.write(
    `${setup.strategy}: ${setup.clients} clients, each waits ${machine.think_ms.toFixed(1)} ms after an answer; ` +
      `gateway, network and load take ${machine.overhead_ms.toFixed(2)} ms (P99 ${machine.overhead_p99_ms.toFixed(2)})\n` +
      `${tableOf(comparison)}\n`,
  );
  if (machine.overhead_p99_ms > BUSY_MS)
    process.stdout.write("The machine is busy: processes wait for its cores, which the simulator knows nothing of.\n");
}

async function main(options: Options): Promise<void> {
  const { clients, think: think_ms, part: part_s, repeats } = options;
  const done: Comparison[] = [];
  for (const strategy of options.strategy) {
    done.push(await compare({ strategy, clients, think_ms, part_s }, repeats));
    if (options.json !== true) print(done[done.length - 1]);
  }
  if (options.json === true) process.stdout.write(`${JSON.stringify(done, undefined, 2)}\n`);
}

const program = new Command("simulate-check")
  .option("--strategy <list>", "built-in strategies", (text) => text.split(","), ["adaptive", "round_robin"])
  .option("--clients <n>", "clients of the closed loop", whole, CLIENTS)
  .option("--think <ms>", "their pause after an answer", whole, THINK_MS)
  .option("--part <s>", "length of each part: warm-up, all nodes alike, one slow", whole, 4)
  .option("--repeats <n>", "runs on nginx", whole, 1)
  .option("--json", "print the figures as JSON");
program.parse();
await main(program.opts<Options>());
