import { rmSync } from "node:fs";
import type { Child } from "./child";
import { buildConf, type GatewayOptions } from "./gateway_conf";
import { http, type HttpAnswer, type HttpOptions } from "./http";
import { freePort } from "./ports";
import { childrenOf, cpuSeconds, title } from "./proc";
import { checkConfiguration, despitePortRaces, errorLogPath, NginxStartError, startServer } from "./server";
import { waitFor } from "./wait";
import { newDir, readIfThere, removeDir } from "./workdir";

export interface Gateway {
  /** "http://127.0.0.1:<port>", no slash at the end. */
  url: string;
  port: number;
  dir: string;
  /** Where error.log is. */
  error_log_path: string;
  masterPid(): number;
  isAlive(): boolean;
  /** pids of the workers that take new connections, ascending. */
  workerPids(): number[];
  /** pids of workers of earlier configurations that finish their requests. */
  retiringPids(): number[];
  /** pid of the worker that runs the collector, as the status says; undefined when it says nothing. */
  collectorPid(): Promise<number | undefined>;
  /** GET /ax/v1/upstreams; undefined when the answer is not 200 with JSON. */
  status(): Promise<unknown>;
  get(path: string, options?: HttpOptions): Promise<HttpAnswer>;
  /**
   * Reloads (SIGHUP), with other options if given, and waits until all workers are new ones that serve.
   * @throws Error with the log's text when nginx refuses the configuration: the old workers serve on then
   */
  reload(changes?: Partial<GatewayOptions>): Promise<void>;
  /** Waits until the workers of earlier configurations have ended. */
  waitForRetired(): Promise<void>;
  /** Kills a worker with -9 and waits until another one serves in its place. */
  killWorker(pid: number): Promise<void>;
  /** Text of error.log so far. */
  errorLog(): string;
  /** CPU seconds used so far by the master, the workers, and workers that have ended. */
  cpuSeconds(): number;
  /** Ends it and, unless told otherwise or given a parent_dir, removes its files. */
  stop(options?: { keep_files?: boolean }): Promise<void>;
}

/** nginx renames a worker once it is set up and takes connections, and again when it retires. */
const SERVING = /^nginx: worker process$/;
const RETIRING = /^nginx: worker process is shutting down$/;

function workersNamed(master: number, pattern: RegExp): number[] {
  return childrenOf(master).filter((pid) => pattern.test(title(pid)));
}

async function answers(url: string): Promise<boolean> {
  return http(url, { timeout_ms: 2000 }).then(
    () => true,
    () => false,
  );
}

function run(dir: string, port: number, options: GatewayOptions): Promise<Child> {
  const workers = options.workers ?? 1;
  return startServer({
    dir,
    conf: buildConf(options, dir, port),
    memory_limit_mb: options.memory_limit_mb ?? 4000,
    env: options.env,
    leave_running: options.leave_running,
    isReady: async (child) =>
      workersNamed(child.pid, SERVING).length === workers &&
      (await answers(`http://127.0.0.1:${port}${options.ready_path ?? "/kit/ready"}`)),
  });
}

/** Who runs the collector, by the status document. */
function collectorPidOf(status: unknown): number | undefined {
  const pid = (status as { collector?: { pid?: unknown } } | undefined)?.collector?.pid;
  return typeof pid === "number" ? pid : undefined;
}

async function reload(child: Child, dir: string, conf: { port: number; options: GatewayOptions }): Promise<void> {
  const workers = conf.options.workers ?? 1;
  const old = new Set(workersNamed(child.pid, SERVING));
  const log_length = readIfThere(errorLogPath(dir)).length;
  buildConf(conf.options, dir, conf.port, { write: true });
  child.signal("SIGHUP");
  await waitFor("the workers of the new configuration", () => {
    // A configuration that the library refuses is logged as an error of init_by_lua.
    const refusal = /(\[emerg\]|init_by_lua error)[^]*/.exec(readIfThere(errorLogPath(dir)).slice(log_length))?.[0];
    if (refusal !== undefined) throw new Error(`nginx refused to reload:\n${refusal.trim()}`);
    if (!child.isAlive()) throw new Error(`nginx ended while reloading:\n${child.output()}`);
    const serving = workersNamed(child.pid, SERVING);
    return serving.length === workers && serving.every((pid) => !old.has(pid));
  });
}

async function killWorker(child: Child, pid: number): Promise<void> {
  const before = workersNamed(child.pid, SERVING);
  if (!before.includes(pid)) throw new Error(`process ${pid} is not a worker of this gateway (${before.join(", ")})`);
  process.kill(pid, "SIGKILL");
  await waitFor("a worker in place of the one killed", () => {
    const now = workersNamed(child.pid, SERVING);
    return now.length === before.length && !now.includes(pid);
  });
}

function gatewayOf(child: Child, dir: string, port: number, started_with: GatewayOptions): Gateway {
  const url = `http://127.0.0.1:${port}`;
  let options = started_with;
  const get: Gateway["get"] = (path, request) => http(url + path, request);
  const status = async (): Promise<unknown> => {
    const answer = await get("/ax/v1/upstreams");
    const is_json = answer.status === 200 && (answer.headers["content-type"] ?? "").includes("json");
    return is_json ? JSON.parse(answer.text) : undefined;
  };
  return {
    url,
    port,
    dir,
    error_log_path: errorLogPath(dir),
    masterPid: () => child.pid,
    isAlive: () => child.isAlive(),
    workerPids: () => workersNamed(child.pid, SERVING),
    retiringPids: () => workersNamed(child.pid, RETIRING),
    collectorPid: async () => collectorPidOf(await status()),
    status,
    get,
    reload: async (changes) => {
      const next = { ...options, ...changes };
      await reload(child, dir, { port, options: next });
      options = next;
    },
    waitForRetired: async () =>
      void (await waitFor("retiring workers to end", () => workersNamed(child.pid, RETIRING).length === 0, 30_000)),
    killWorker: (pid) => killWorker(child, pid),
    errorLog: () => readIfThere(errorLogPath(dir)),
    cpuSeconds: () => cpuSeconds(child.pid),
    stop: async ({ keep_files = started_with.parent_dir !== undefined } = {}) => {
      await child.stop("SIGTERM");
      if (!keep_files) removeDir(dir);
    },
  };
}

/**
 * Starts a gateway: nginx with master and workers, on a free port.
 * @throws NginxStartError when it does not start; its `output` is what nginx said
 */
export async function startGateway(options: GatewayOptions): Promise<Gateway> {
  const dir = newDir(options.name ?? "gateway", options.parent_dir);
  const start = async (port: number): Promise<Gateway> => {
    rmSync(errorLogPath(dir), { force: true });
    return gatewayOf(await run(dir, port, options), dir, port, options);
  };
  if (options.port !== undefined) return start(options.port);
  return despitePortRaces(async () => start(await freePort()));
}

/**
 * Starts a gateway that is expected not to start.
 * @returns what nginx said
 * @throws Error when it starts all the same (it is stopped then)
 */
export async function startupError(options: GatewayOptions): Promise<string> {
  let gateway: Gateway;
  try {
    gateway = await startGateway(options);
  } catch (error) {
    if (!(error instanceof NginxStartError)) throw error;
    if (options.parent_dir === undefined) removeDir(error.dir);
    return error.output;
  }
  await gateway.stop();
  throw new Error("the gateway started, in spite of its configuration");
}

/** What `nginx -t` says of a gateway with these options. */
export async function checkGateway(options: GatewayOptions): Promise<{ ok: boolean; output: string }> {
  const dir = newDir(options.name ?? "check", options.parent_dir);
  const result = checkConfiguration(dir, buildConf(options, dir, options.port ?? (await freePort())));
  if (options.parent_dir === undefined) removeDir(dir);
  return result;
}
