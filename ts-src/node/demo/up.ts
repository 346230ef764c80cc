/** Leaves the demo's gateway and nodes running. `down` stops them. */
import { Command, InvalidArgumentError } from "commander";
import { type Backend, findNginx, isTaken, NginxStartError, startBackend, startGateway } from "../testkit";
import { letLive, onUncleanExit } from "../testkit/child";
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

interface Options {
  strategy: string;
  port?: number;
}

function portNumber(text: string): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1 || value > 65535) {
    throw new InvalidArgumentError("A whole number from 1 to 65535 is allowed.");
  }
  return value;
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
  if (options.port !== undefined && (await isTaken(options.port))) {
    throw new Error(`port ${options.port} is taken: choose another one (make up PORT=…), or none for a free one`);
  }
  // Before anything is started.
  findNginx();
  const state: State = { dir: newDir("up"), starter: running("up", process.pid), processes: [] };
  const { dir } = state;
  try {
    claimState(state);
  } catch (error) {
    removeDir(dir);
    throw error;
  }
  const forget = onUncleanExit(() => forgetState(state));
  const up = await startAll(options, state);
  forget();
  letLive();
  return up;
}

async function startAll(options: Options, state: State): Promise<State & { url: string }> {
  const { dir } = state;
  const keep = { parent_dir: dir, leave_running: true };
  const backends: Backend[] = [];
  for (let number = 1; number <= NODES; number++) {
    const backend = await startBackend({ ...nodeOptions(number), ...keep });
    backends.push(backend);
    state.processes.push(running(backend.name, backend.pid()));
    writeState(state);
  }
  const contender = { name: options.strategy, by: "ax", strategy: options.strategy };
  const port = options.port === undefined ? {} : { port: options.port };
  const gateway = await startGateway({ ...gatewayOptions(contender, backends), ...keep, ...port });
  // First in the list, first to be stopped.
  state.processes.unshift(running("gateway", gateway.masterPid()));
  const up = { ...state, url: gateway.url };
  writeState(up);
  return up;
}

const options = new Command("up")
  .description("Starts a gateway with six nodes, one of them slow, and leaves them running.")
  .option("--strategy <name>", "who gets the requests", "adaptive")
  .option("--port <n>", "port of the gateway; a free one by default", portNumber)
  .parse()
  .opts<Options>();

/** @throws Error with a line that says what to do */
async function main(): Promise<void> {
  const earlier = readState();
  if (earlier !== undefined && isStarting(earlier.state)) throw new Error(ANOTHER_STARTS);
  if (earlier?.state.url !== undefined && earlier.alive.length === earlier.state.processes.length) {
    process.stdout.write("It is up already.\n");
    printGuide(earlier.state.url, earlier.state.dir);
    return;
  }
  await stopAll();
  const { url, dir } = await start(options);
  printGuide(url, dir);
}

try {
  await main();
} catch (error) {
  // What was started is stopped at the end of this process, and its files go: what nginx said must be enough.
  const text = error instanceof NginxStartError ? `nginx did not start:\n${error.output}` : (error as Error).message;
  process.stderr.write(`up: ${text.trim()}\n`);
  process.exitCode = 1;
}
