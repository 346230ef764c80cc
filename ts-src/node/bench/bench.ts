/** Benchmarks on real nginx, against what others ship. `--help` says the rest. */
import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { Command, InvalidArgumentError } from "commander";
import { Listr, ListrLogger, ProcessOutput } from "listr2";
import pc from "picocolors";
import { onUncleanExit } from "../testkit/child";
import { which } from "../testkit/nginx";
import { ROOT } from "../testkit/workdir";
import { missing } from "./contenders";
import { describeMachine, machineLine } from "./machine";
import { htmlPage } from "./page";
import type { ScenarioResult } from "./results";
import { estimateSeconds, runScenario } from "./run";
import type { Scenario } from "./scenarios";
import { choose, SCENARIO_NAMES, UsageError } from "./choice";
import { resultText } from "./table";

interface Options {
  scenario?: string;
  strategy?: string;
  repeats: number;
  seconds: number;
  skipMissing?: boolean;
  json?: boolean;
}

const OUT_DIR = join(ROOT, ".build", "bench");

function count(text: string): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1 || value > 1000) throw new InvalidArgumentError("a whole number 1..1000.");
  return value;
}

/** Leaves out whose program is missing, and says so; without --skip-missing that ends the run. */
function withoutMissing(scenarios: Scenario[], skip: boolean): Scenario[] {
  if (which("wrk") === undefined) throw new UsageError("wrk is not installed: apt-get install wrk");
  const reasons = new Set(scenarios.flatMap(({ contenders }) => contenders.flatMap((it) => missing(it) ?? [])));
  if (!skip && reasons.size > 0) {
    throw new UsageError(`${[...reasons].join("; ")}; or leave it out: make bench SKIP_MISSING=1`);
  }
  for (const reason of reasons) process.stderr.write(`left out: ${reason}\n`);
  return scenarios.map((scenario) => ({
    ...scenario,
    contenders: scenario.contenders.filter((contender) => missing(contender) === undefined),
  }));
}

/** Runs them one after the other, with progress on stderr: stdout is for the result. */
async function runAll(scenarios: Scenario[], options: Options): Promise<ScenarioResult[]> {
  const results: ScenarioResult[] = [];
  let failure: unknown;
  const logger = new ListrLogger({ processOutput: new ProcessOutput(process.stderr, process.stderr) });
  const tasks = scenarios.map((scenario) => ({
    title: `${scenario.name}: ${scenario.about}`,
    task: async (_: unknown, task: { output: string }): Promise<void> => {
      try {
        results.push(await runScenario(scenario, { ...options, onProgress: (text) => (task.output = text) }));
      } catch (error) {
        failure = error;
        throw new Error("see below", { cause: error });
      }
    },
  }));
  const list = new Listr(tasks, {
    fallbackRendererCondition: process.stderr.isTTY !== true,
    fallbackRenderer: "simple",
    rendererOptions: { logger, showErrorMessage: false },
    fallbackRendererOptions: { logger },
    registerSignalListeners: false,
  });
  await list.run().catch((error: unknown) => {
    throw failure ?? error;
  });
  return results;
}

function pickCost(): string {
  const luajit = execFileSync(join(ROOT, "scripts", "find-luajit"), { encoding: "utf8" }).trim();
  const run = (...args: string[]): string => execFileSync(luajit, args, { cwd: ROOT, encoding: "utf8" });
  return `Pick cost\n${run("spec/bench/pick.lua")}\nJIT check of the hot paths: ${run("spec/jit/hot_paths.lua")}`;
}

async function main(options: Options): Promise<void> {
  const say = (text: string): void => void (options.json === true ? process.stderr : process.stdout).write(`${text}\n`);
  const chosen = choose(options.scenario, options.strategy);
  const scenarios = withoutMissing(chosen.scenarios, options.skipMissing === true);
  const machine = describeMachine();
  say(machineLine(machine));
  const minutes = estimateSeconds(scenarios, options) / 60;
  say(`${scenarios.length} scenarios, about ${Math.max(1, Math.ceil(minutes))} min\n`);
  if (chosen.with_picks) say(pickCost());
  const results = await runAll(scenarios, options);
  const document = { machine, seconds: options.seconds, repeats: options.repeats, results };
  mkdirSync(OUT_DIR, { recursive: true });
  const files = ["results.json", "results.html"].map((name) => join(OUT_DIR, name));
  writeFileSync(files[0], `${JSON.stringify(document, undefined, 2)}\n`);
  writeFileSync(files[1], await htmlPage(machine, results));
  if (options.json === true) process.stdout.write(`${JSON.stringify(document, undefined, 2)}\n`);
  const colours = pc.createColors(process.stdout.isTTY && process.env["NO_COLOR"] === undefined);
  if (options.json !== true) for (const result of results) say(`${resultText(result, colours)}\n`);
  say(`Written: ${files.join(", ")}`);
}

const program = new Command("bench")
  .description("Measures gateways against each other on the same nodes. Starts and stops everything it needs.")
  .option("--scenario <names>", `which ones, separated by commas: pick, ${SCENARIO_NAMES.join(", ")}`)
  .option("--strategy <names>", 'which of ours, separated by commas; "all" = every one; others stay')
  .option("--repeats <n>", "repetitions of each measurement, in turn", count, 3)
  .option("--seconds <n>", "seconds of load for each", count, 3)
  .option("--skip-missing", "leave out gateways whose program is not installed")
  .option("--json", "print the figures as JSON");
program.parse();

// The progress display hides the cursor, and Ctrl-C may end it at any time.
const forgetCursor = onUncleanExit(() => {
  if (process.stderr.isTTY) writeSync(2, "\x1b[?25h\n");
});
try {
  await main(program.opts<Options>());
} catch (error) {
  process.stderr.write(`bench: ${(error as Error).message}\n`);
  process.exitCode = error instanceof UsageError ? 2 : 1;
} finally {
  forgetCursor();
}
