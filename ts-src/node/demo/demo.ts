/** The demo: the same load on the same nodes, one strategy after the other. `--help` says the rest. */
import { Command } from "commander";
import { Listr, ListrLogger, ProcessOutput } from "listr2";
import { wholeNumber } from "../cli/arguments";
import { runCommand } from "../cli/command";
import { type Backend, cpuSeconds, findNginx, findWrk, type Kit, machineCpuSeconds, runWrk, withKit } from "../testkit";
import {
  CONNECTIONS,
  type Contender,
  CONTENDERS,
  type Cpu,
  type Figures,
  figures,
  gatewayOptions,
  nodeOptions,
  NODES,
  WARM_UP_S,
} from "./scenario";
import { colours, explanation, machineNote, table } from "./table";

/** Five strategies, each with its warm-up, stay well under three minutes. */
const DURATION_DEFAULT_S = 15;

/** Starts measuring CPU use. What it returns ends that, and says how many cores were busy. */
function cpuMeter(): () => Cpu {
  const start_ms = performance.now();
  const demo_s = cpuSeconds(process.pid);
  const all_s = machineCpuSeconds().busy_s;
  return () => {
    const elapsed_s = (performance.now() - start_ms) / 1000;
    return {
      demo_cores: (cpuSeconds(process.pid) - demo_s) / elapsed_s,
      all_cores: (machineCpuSeconds().busy_s - all_s) / elapsed_s,
    };
  };
}

async function measure(kit: Kit, backends: Backend[], contender: Contender, duration_s: number): Promise<Figures> {
  const gateway = await kit.gateway(gatewayOptions(contender, backends));
  const load = { url: `${gateway.url}/`, connections: CONNECTIONS };
  await runWrk({ ...load, duration_s: WARM_UP_S });
  await Promise.all(backends.map((backend) => backend.resetCounters()));
  const cpuUsed = cpuMeter();
  const result = await runWrk({ ...load, duration_s });
  const cpu = cpuUsed();
  const counters = await Promise.all(backends.map((backend) => backend.counters()));
  await gateway.stop();
  return figures(
    contender,
    result,
    counters.map(({ requests }) => requests),
    cpu,
  );
}

/** Runs the steps one after the other, showing which one is at work. Throws what a step throws. */
async function runSteps(steps: [title: string, task: () => Promise<void>][]): Promise<void> {
  let failure: unknown;
  const tasks = steps.map(([title, task]) => ({
    title,
    task: async (): Promise<void> => {
      try {
        await task();
      } catch (error) {
        // The whole text is printed once, at the end.
        failure = error;
        throw new Error("see below");
      }
    },
  }));
  // Progress goes to stderr: stdout is for the result.
  const logger = new ListrLogger({ processOutput: new ProcessOutput(process.stderr, process.stderr) });
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
}

async function runAll(kit: Kit, duration_s: number): Promise<Figures[]> {
  const results: Figures[] = [];
  let backends: Backend[] = [];
  const startNodes = async (): Promise<void> => {
    const numbers = Array.from({ length: NODES }, (_, i) => i + 1);
    backends = await Promise.all(numbers.map((number) => kit.backend(nodeOptions(number))));
  };
  const steps: Parameters<typeof runSteps>[0] = [[`start ${NODES} nodes, one of them slow`, startNodes]];
  for (const contender of CONTENDERS) {
    const title = `${contender.name} (${contender.by}): ${WARM_UP_S} s warm-up, ${duration_s} s measured`;
    steps.push([title, async () => void results.push(await measure(kit, backends, contender, duration_s))]);
  }
  await runSteps(steps);
  return results;
}

interface Options {
  json?: boolean;
  seconds: number;
}

const options = new Command("demo")
  .description("Compares strategies on six nodes, one of them slow. Starts and stops everything it needs.")
  .option("--json", "print the figures as JSON")
  .option("--seconds <n>", "how long each strategy is measured", wholeNumber(1, 3600), DURATION_DEFAULT_S)
  .parse()
  .opts<Options>();

async function main(): Promise<undefined> {
  // Before anything is started.
  findWrk();
  findNginx();
  if (options.json !== true) process.stdout.write(`${explanation(options.seconds)}\n\n`);
  const results = await withKit("demo", (kit) => runAll(kit, options.seconds), { keep_when_interrupted: false });
  if (options.json === true) {
    const document = { seconds: options.seconds, connections: CONNECTIONS, results };
    process.stdout.write(`${JSON.stringify(document, undefined, 2)}\n`);
  } else {
    process.stdout.write(`\n${table(results, colours(process.stdout))}\n${machineNote(results)}\n`);
  }
}

await runCommand("demo", main, { display: process.stderr });
