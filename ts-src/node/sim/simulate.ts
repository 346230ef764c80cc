/**
 * Strategies compared in virtual time, each beside what is possible at best.
 *   npx tsx ts-src/node/sim/simulate.ts [--scenario a,b] [--strategy x,y] [--seeds 5] [--json] [--html FILE]
 */
import { join } from "node:path";
import { Command, InvalidArgumentError } from "commander";
import { Listr } from "listr2";
import type { Bound, Job, Result } from "../../sim/job";
import { checkStrategy, wholeNumber } from "../cli/arguments";
import { runCommand } from "../cli/command";
import { checkWritable, replaceFile } from "../cli/files";
import { colours } from "../demo/table";
import { ROOT } from "../testkit/workdir";
import { htmlReport, type Report } from "./report";
import { runJobs } from "./run";
import { jobOf, loadScenario, scenarioNames } from "./scenario";
import type { Contender, Scenario } from "./scenario_schema";
import { type Line, type Summary, summarise } from "./summary";
import { summaryTable } from "./table";

const BOUNDS: Bound[] = ["shared_queue", "oracle", "random_split"];

/** Standard output is for results: a moving display only where somebody watches it. */
const watched = process.stdout.isTTY && (process.env["CI"] ?? "") === "";

interface Options {
  scenario: string[];
  strategy?: string[];
  seeds: number;
  jobs: number;
  options: Record<string, unknown>;
  upstream: Record<string, unknown>;
  duration?: number;
  json?: boolean;
  html: string;
}

/** Compared where a scenario does not say itself what it is for. */
const STRATEGIES = ["adaptive", "least_conn", "round_robin"];

/** A line of the table. */
interface Entry extends Line {
  contender: Contender;
}

function list(text: string): string[] {
  const items = text.split(/[\s,]+/).filter((item) => item !== "");
  if (items.length === 0) throw new InvalidArgumentError("a list, separated by commas.");
  return items;
}

const count = wholeNumber(1, 10_000);

function object(text: string): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    value = undefined;
  }
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  throw new InvalidArgumentError('a JSON object, {"revisit_ms": 500}.');
}

function contenderOf(strategy: string): Contender {
  return { strategy, options: {}, upstream: {}, load_factor: 1 };
}

/** Who plays in a scenario: whom the user names, else whom the scenario names; and the bounds. */
function entriesOf(scenario: Scenario, options: Options): Entry[] {
  const own = scenario.compare.length > 0 ? scenario.compare : STRATEGIES.map(contenderOf);
  const contenders = options.strategy?.map(contenderOf) ?? own;
  return [
    ...contenders.map((contender) => ({
      name: contender.name ?? contender.strategy,
      is_bound: false,
      load_factor: contender.load_factor,
      contender,
    })),
    ...BOUNDS.map((name) => ({ name, is_bound: true, load_factor: 1, contender: contenderOf("random") })),
  ];
}

function times(load: Scenario["load"], factor: number): Scenario["load"] {
  const { rho, rate_per_s } = load;
  return { ...load, rho: rho && rho * factor, rate_per_s: rate_per_s && rate_per_s * factor };
}

function jobsOf(scenario: Scenario, entries: Entry[], options: Options): Job[] {
  return entries.flatMap(({ name, is_bound, contender }) => {
    const given = {
      ...scenario,
      load: times(scenario.load, contender.load_factor),
      duration_s: options.duration ?? scenario.duration_s,
      gateways: contender.gateways ?? scenario.gateways,
      access: contender.access ?? scenario.access,
      upstream: { ...scenario.upstream, ...contender.upstream, ...options.upstream },
    };
    const player = is_bound
      ? { strategy: "random", strategy_options: {}, bound: name as Bound }
      : { strategy: contender.strategy, strategy_options: { ...contender.options, ...options.options } };
    return Array.from({ length: options.seeds }, (_, k) => jobOf(given, player, k + 1));
  });
}

interface Done {
  summaries: Summary[];
  report: Report;
}

/** Where nothing moves on the screen, each table comes when it is ready. */
function showProgress(summary: Summary, options: Options): void {
  process.stderr.write(`  ${summary.scenario}\n`);
  if (options.json !== true) process.stdout.write(`${summaryTable(summary, colours(process.stdout))}\n`);
}

async function simulateAll(scenarios: Scenario[], options: Options): Promise<Done> {
  const done: Done = { summaries: [], report: { scenarios: [] } };
  const tasks = new Listr(
    scenarios.map((scenario) => ({
      title: scenario.name,
      task: async (_: unknown, task: { title: string }): Promise<void> => {
        const entries = entriesOf(scenario, options);
        const jobs = jobsOf(scenario, entries, options);
        let ended = 0;
        const results: Result[] = await runJobs(jobs, options.jobs, (run) => {
          ended++;
          task.title = `${scenario.name}  ${ended}/${jobs.length}  (${run.strategy}, seed ${run.seed})`;
        });
        task.title = scenario.name;
        const summary = summarise(scenario, entries, results);
        done.summaries.push(summary);
        if (!watched) showProgress(summary, options);
        const runs = entries.map(({ name }, at) => ({ player: name, series: results[at * options.seeds].series }));
        done.report.scenarios.push({ name: scenario.name, runs });
      },
    })),
    { concurrent: false, renderer: watched ? "default" : "silent", registerSignalListeners: false },
  );
  await tasks.run();
  return done;
}

async function main(options: Options): Promise<undefined> {
  options.strategy?.forEach(checkStrategy);
  const scenarios = options.scenario.map(loadScenario);
  checkWritable(options.html);
  const started_ms = performance.now();
  const { summaries, report } = await simulateAll(scenarios, options);
  const runs = summaries.reduce((sum, { rows, seeds }) => sum + rows.length * seeds, 0);
  const took_s = (performance.now() - started_ms) / 1000;
  if (options.json === true) process.stdout.write(`${JSON.stringify({ scenarios: summaries }, undefined, 2)}\n`);
  else if (watched)
    for (const summary of summaries) process.stdout.write(`${summaryTable(summary, colours(process.stdout))}\n`);
  replaceFile(options.html, await htmlReport(summaries, report));
  const each_s = (took_s * options.jobs) / runs;
  process.stderr.write(
    `${runs} runs in ${took_s.toFixed(0)} s, ${each_s.toFixed(1)} s each\nreport: ${options.html}\n`,
  );
}

const program = new Command("simulate")
  .option("--scenario <list>", "names of scenarios/, or paths of scenario files", list, scenarioNames())
  .option("--strategy <list>", "built-in strategies, instead of those the scenarios name", list)
  .option("--seeds <n>", "runs of each, with different chance", count, 5)
  .option("--jobs <n>", "runs at a time", count, 2)
  .option("--options <json>", "strategy_options of the strategies", object, {})
  .option("--upstream <json>", "options of the upstream, over the scenario's", object, {})
  .option("--duration <s>", "measured time, over the scenario's", count)
  .option("--json", "print the figures as JSON")
  .option("--html <file>", "where the report with charts goes", join(ROOT, ".build", "simulation.html"));
program.parse();
await runCommand("simulate", () => main(program.opts<Options>()), { display: process.stdout });
