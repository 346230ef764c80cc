/** Leaves the demo's gateway and nodes running. `down` stops them. */
import { Command } from "commander";
import { checkStrategy, UsageError, wholeNumber } from "../cli/arguments";
import { runCommand } from "../cli/command";
import { systemReason } from "../cli/files";
import { type Backend, findNginx, NginxStartError, startBackend, startGateway } from "../testkit";
import { letLive, onUncleanExit } from "../testkit/child";
import { whyNotFree } from "../testkit/ports";
import { newDir, removeDir } from "../testkit/workdir";
import { gatewayOptions, nodeOptions, NODES } from "./scenario";
import {
  ANOTHER_STARTS,
  claimState,
  forgetState,
  isStarting,
  readState,
  running,
  type State,
  stopAll,
  writeState,
} from "./state";

const STRATEGY_DEFAULT = "adaptive";

interface Options {
  strategy?: string;
  port?: number;
}

function printGuide(url: string, dir: string): void {
  process.stdout.write(
    [
      `gateway   ${url}/`,
      `status    ${url}/ax/v1/upstreams`,
      `load it   wrk -c 24 -t 1 -d 10s --latency ${url}/`,
      `files     ${dir}`,
      `stop it   make down   (or: npx tsx ts-src/node/demo/down.ts)`,
      "",
    ].join("\n"),
  );
}

async function start(options: Options): Promise<State & { url: string }> {
  const problem = options.port === undefined ? undefined : await whyNotFree(options.port);
  if (problem !== undefined) {
    throw new Error(`${problem}: choose another one (make up PORT=…), or none for a free one`);
  }
  // Before anything is started.
  findNginx();
  const { strategy = STRATEGY_DEFAULT } = options;
  const state: State = { dir: newDir("up"), strategy, starter: running("up", process.pid), processes: [] };
  const { dir } = state;
  try {
    claimState(state);
  } catch (error) {
    removeDir(dir);
    throw error;
  }
  const forget = onUncleanExit(() => forgetState(state));
  const up = await startAll(strategy, options.port, state);
  forget();
  letLive();
  return up;
}

async function startAll(
  strategy: string,
  given_port: number | undefined,
  state: State,
): Promise<State & { url: string }> {
  const { dir } = state;
  const keep = { parent_dir: dir, leave_running: true };
  const backends: Backend[] = [];
  for (let number = 1; number <= NODES; number++) {
    const backend = await startBackend({ ...nodeOptions(number), ...keep });
    backends.push(backend);
    state.processes.push(running(backend.name, backend.pid()));
    writeState(state);
  }
  const contender = { name: strategy, by: "ax", strategy };
  const port = given_port === undefined ? {} : { port: given_port };
  const gateway = await startGateway({ ...gatewayOptions(contender, backends), ...keep, ...port });
  // First in the list, first to be stopped.
  state.processes.unshift(running("gateway", gateway.masterPid()));
  const up = { ...state, url: gateway.url };
  writeState(up);
  return up;
}

const options = new Command("up")
  .description("Starts a gateway with six nodes, one of them slow, and leaves them running.")
  .option("--strategy <name>", `who gets the requests (default: ${STRATEGY_DEFAULT})`)
  .option("--port <n>", "port of the gateway; a free one by default", wholeNumber(1, 65535))
  .parse()
  .opts<Options>();

/**
 * The demo is up already.
 * @throws UsageError when it is not what is asked for now
 */
function sayThatItIsUp({ strategy, dir }: State, url: string): void {
  const other_strategy = options.strategy !== undefined && options.strategy !== strategy;
  const other_port = options.port !== undefined && String(options.port) !== new URL(url).port;
  if (other_strategy || other_port) {
    throw new UsageError(`it is up already, with strategy ${strategy} at ${url}: stop it first (make down)`);
  }
  process.stdout.write("It is up already.\n");
  printGuide(url, dir);
}

/** @throws Error with a line that says what to do */
async function main(): Promise<undefined> {
  if (options.strategy !== undefined) checkStrategy(options.strategy);
  const earlier = readState();
  if (earlier !== undefined && isStarting(earlier.state)) throw new Error(ANOTHER_STARTS);
  if (earlier?.state.url !== undefined && earlier.alive.length === earlier.state.processes.length) {
    return void sayThatItIsUp(earlier.state, earlier.state.url);
  }
  await stopAll();
  const { url, dir } = await start(options);
  printGuide(url, dir);
}

/** What was started is stopped at the end of this process, and its files go: what nginx said must be enough. */
function explain(error: unknown): string {
  return error instanceof NginxStartError ? `nginx did not start:\n${error.output}` : systemReason(error);
}

await runCommand("up", main, { explain });
