/**
 * Benchmarks: what a pick costs, whether the hot paths stay compiled, what the library costs a gateway.
 *   npx tsx ts-src/node/bench/bench.ts [--json] [--repeats N] [--seconds N] [--connections N]
 */
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import Table from "cli-table3";
import { Command, InvalidArgumentError } from "commander";
import { withKit } from "../testkit";
import { ROOT } from "../testkit/workdir";
import { type OverheadRow, runOverhead } from "./overhead";

interface Options {
  json?: boolean;
  repeats: number;
  seconds: number;
  connections: number;
}

function count(text: string): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1 || value > 1000) throw new InvalidArgumentError("a whole number 1..1000.");
  return value;
}

function lua(script: string, ...args: string[]): string {
  const luajit = execFileSync(join(ROOT, "scripts", "find-luajit"), { encoding: "utf8" }).trim();
  return execFileSync(luajit, [script, ...args], { cwd: ROOT, encoding: "utf8" });
}

function printOverhead(rows: OverheadRow[]): void {
  const plain = process.stdout.isTTY && process.env["NO_COLOR"] === undefined ? {} : { head: [], border: [] };
  const table = new Table({
    head: ["balancer", "req/s", "ratio", "gateway CPU µs/req", "ratio", "errors"],
    colAligns: ["left", "right", "right", "right", "right", "right"],
    style: plain,
  });
  for (const row of rows) {
    table.push([
      row.variant,
      row.rps.toFixed(0),
      row.rps_ratio.toFixed(3),
      row.cpu_us.toFixed(1),
      row.cpu_ratio.toFixed(3),
      row.errors,
    ]);
  }
  process.stdout.write(`${table.toString()}\n`);
}

async function main(options: Options): Promise<void> {
  const say = (text: string): void => void (options.json === true ? process.stderr : process.stdout).write(`${text}\n`);
  const picks = lua("spec/bench/pick.lua", ...(options.json === true ? ["--json"] : []));
  if (options.json !== true) say(`Pick cost\n${picks}`);
  const traces = lua("spec/jit/hot_paths.lua").trim();
  say(`JIT check of the hot paths: ${traces}\n`);
  say(
    `Gateway overhead: six idle backends, one worker, ${options.connections} connections, median of ${options.repeats}`,
  );
  const rows = await withKit("overhead", (kit) =>
    runOverhead(kit, { ...options, onProgress: (text) => process.stderr.write(`  ${text}\n`) }),
  );
  if (options.json === true) {
    process.stdout.write(
      `${JSON.stringify({ picks: JSON.parse(picks) as unknown, traces, overhead: rows }, undefined, 2)}\n`,
    );
  } else printOverhead(rows);
}

const program = new Command("bench")
  .option("--json", "print the figures as JSON")
  .option("--repeats <n>", "repetitions of each variant, in turn", count, 5)
  .option("--seconds <n>", "seconds of load for each", count, 4)
  .option("--connections <n>", "connections of the load generator", count, 32);
program.parse();
await main(program.opts<Options>());
