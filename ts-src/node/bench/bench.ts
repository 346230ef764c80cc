/** Benchmarks on real nginx, against what others ship. `--help` says the rest. */
import { join } from "node:path";
import { Command } from "commander";
import pc from "picocolors";
import { UsageError, wholeNumber } from "../cli/arguments";
import { runCommand } from "../cli/command";
import { checkWritable, replaceFile } from "../cli/files";
import { which } from "../testkit/nginx";
import { ROOT } from "../testkit/workdir";
import { choose, SCENARIO_NAMES, type Wanted } from "./choice";
import { missing } from "./contenders";
import { describeMachine, type Machine, machineLine } from "./machine";
import { htmlPage } from "./page";
import { roughly } from "./progress";
import { type Chosen, estimateAll, type Figures, runAll } from "./run_all";
import { oneLine } from "./run";
import type { Scenario } from "./scenarios";
import { picksText, resultText } from "./table";

interface Options extends Wanted {
  repeats: number;
  seconds: number;
  skipMissing?: boolean;
  json?: boolean;
}

const OUT_DIR = join(ROOT, ".build", "bench");
const JSON_PATH = join(OUT_DIR, "results.json");
const HTML_PATH = join(OUT_DIR, "results.html");

const count = wholeNumber(1, 1000);

/** Leaves out whose program is missing, and says so; without --skip-missing that ends the run. */
function withoutMissing(scenarios: Scenario[], skip: boolean): Scenario[] {
  if (scenarios.length > 0 && which("wrk") === undefined) {
    throw new UsageError("wrk is not installed: apt-get install wrk");
  }
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

function documentOf(machine: Machine, chosen: Chosen, { picks, results, problems }: Figures): string {
  const { seconds, repeats } = chosen;
  return `${JSON.stringify({ machine, seconds, repeats, picks, results, problems }, undefined, 2)}\n`;
}

function report({ picks, results }: Figures, say: (text: string) => void): void {
  const colours = pc.createColors(process.stdout.isTTY && process.env["NO_COLOR"] === undefined);
  if (picks !== undefined) say(`\n${picksText(picks, colours)}`);
  for (const result of results) say(`\n${resultText(result, colours)}`);
}

/** @returns whether all went well */
async function main(options: Options): Promise<boolean> {
  const say = (text: string): void => void (options.json === true ? process.stderr : process.stdout).write(`${text}\n`);
  const { scenarios, with_picks } = choose(options);
  const chosen = { ...options, with_picks, scenarios: withoutMissing(scenarios, options.skipMissing === true) };
  for (const path of [JSON_PATH, HTML_PATH]) checkWritable(path);
  const machine = describeMachine();
  say(machineLine(machine));
  const parts = scenarios.length + (with_picks ? 1 : 0);
  const scenarios_text = parts === 1 ? "1 scenario" : `${parts} scenarios`;
  say(`${scenarios_text}, about ${roughly(estimateAll(chosen))} on an idle machine\n`);
  const outcome = await runAll(chosen, async (so_far) => {
    replaceFile(JSON_PATH, documentOf(machine, chosen, so_far));
    replaceFile(HTML_PATH, await htmlPage(machine, so_far));
  });
  if (options.json === true) process.stdout.write(documentOf(machine, chosen, outcome));
  else report(outcome, say);
  if (outcome.written) say(`\nWritten: ${JSON_PATH}, ${HTML_PATH}`);
  for (const problem of outcome.problems) process.stderr.write(`bench: ${problem}\n`);
  return outcome.problems.length === 0 && outcome.results.every(({ failures }) => failures.length === 0);
}

const program = new Command("bench")
  .description("Measures gateways against each other on the same nodes. Starts and stops everything it needs.")
  .option("--scenario <names>", `which ones, separated by commas: pick, ${SCENARIO_NAMES.join(", ")}`)
  .option("--strategy <names>", 'which of ours, separated by commas; "all" = every one')
  .option("--peer <names>", 'which of the others, separated by commas; "all" = every one')
  .option("--repeats <n>", "repetitions of each measurement, in turn", count, 3)
  .option("--seconds <n>", "seconds of load for each", count, 3)
  .option("--skip-missing", "leave out gateways whose program is not installed")
  .option("--json", "print the figures as JSON");
program.parse();
await runCommand("bench", () => main(program.opts<Options>()), { display: process.stderr, explain: oneLine });
