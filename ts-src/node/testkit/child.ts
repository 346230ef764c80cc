/**
 * Processes that never outlive the run. Four nets, each for what the one before cannot catch:
 * stop() in the test; a handler for the end of this process and for SIGINT, SIGTERM, SIGHUP;
 * a process group of its own for each child, so that its children go with it; and the kernel's
 * parent-death signal (setpriv), for the case that this process is killed with -9.
 */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { closeSync, openSync, writeSync } from "node:fs";
import { readIfThere } from "./workdir";
import { waitFor } from "./wait";

export interface ChildOptions {
  cwd: string;
  /** File that takes the process's stdout and stderr. */
  output_path: string;
  /** Address space limit, MB: a runaway loop then dies instead of taking the machine. 0 = none. */
  memory_limit_mb: number;
  /** Its environment; this process's by default. */
  env?: NodeJS.ProcessEnv;
  /**
   * Lets the process live on after this one, once letLive() was called: until then it is stopped like all others.
   * Nobody stops it afterwards but its pid.
   */
  leave_running?: boolean;
}

export interface Child {
  pid: number;
  isAlive(): boolean;
  /** What it wrote to stdout and stderr so far. */
  output(): string;
  signal(signal: NodeJS.Signals): void;
  /** Sends the signal and waits for the end; after 5 s, kills the whole group with SIGKILL. */
  stop(signal: NodeJS.Signals): Promise<void>;
}

const STOP_TIMEOUT_MS = 5000;

const living = new Set<ChildProcess>();
type ExitReport = (signal?: NodeJS.Signals) => void;
const on_exit: ExitReport[] = [];
let handlers_installed = false;
let has_setpriv: boolean | undefined;

/**
 * Has something done, synchronously, when this process ends before it has stopped everything: saying where
 * the logs are, removing files. It gets the signal, if one ends the process.
 * @returns call it when all went well: `report` is not called then
 */
export function onUncleanExit(report: ExitReport): () => void {
  installHandlers();
  on_exit.push(report);
  return () => {
    const at = on_exit.indexOf(report);
    if (at >= 0) on_exit.splice(at, 1);
  };
}

function killGroup(child: ChildProcess): void {
  if (child.pid === undefined) return;
  try {
    process.kill(-child.pid, "SIGKILL");
  } catch {
    // Gone already.
  }
}

function endEverything(signal?: NodeJS.Signals): void {
  for (const child of living) killGroup(child);
  living.clear();
  for (const report of on_exit.splice(0)) {
    try {
      report(signal);
    } catch (error) {
      // The other reports have their turn all the same.
      writeSync(2, `${(error as Error).message}\n`);
    }
  }
}

function installHandlers(): void {
  if (handlers_installed) return;
  handlers_installed = true;
  process.on("exit", () => endEverything());
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    const handler = (): void => {
      endEverything(signal);
      // Only now: a second signal (tsx passes on what the terminal has sent already) would end this process at once.
      process.off(signal, handler);
      // It ends as the sender of the signal expects.
      process.kill(process.pid, signal);
    };
    process.on(signal, handler);
  }
}

/** Asks the kernel for the signal, and ends where this process died before that: it would never come. */
function withDeathSignal(command: string[]): string[] {
  has_setpriv ??= spawnSync("setpriv", ["--pdeathsig", "TERM", "true"]).status === 0;
  if (!has_setpriv) return command;
  const check = '[ "$PPID" = "$0" ] && exec "$@"';
  return ["setpriv", "--pdeathsig", "TERM", "sh", "-c", check, String(process.pid), ...command];
}

function withMemoryLimit(command: string[], limit_mb: number): string[] {
  if (limit_mb <= 0) return command;
  return ["sh", "-c", 'ulimit -v "$0" && exec "$@"', String(limit_mb * 1024), ...command];
}

/**
 * Keeps a process that was started by other means (wrk) from outliving this one.
 * @returns call it when the process has ended
 */
export function guard(child: ChildProcess): () => void {
  installHandlers();
  living.add(child);
  return () => living.delete(child);
}

/** What is running now stays when this process ends. Nothing with a parent-death signal should be among it. */
export function letLive(): void {
  living.clear();
}

/**
 * Starts a program in a process group of its own.
 * @param command program and arguments
 * @throws Error when the process could not be created
 */
export function startChild(command: string[], options: ChildOptions): Child {
  const limited = withMemoryLimit(command, options.memory_limit_mb);
  const [program = "", ...args] = options.leave_running === true ? limited : withDeathSignal(limited);
  const output = openSync(options.output_path, "a");
  const child = spawn(program, args, {
    cwd: options.cwd,
    detached: true,
    env: options.env ?? process.env,
    stdio: ["ignore", output, output],
  });
  closeSync(output);
  child.unref();
  const pid = child.pid;
  if (pid === undefined) throw new Error(`cannot start ${program}`);
  let ended = false;
  const release = guard(child);
  child.once("exit", () => {
    ended = true;
    release();
  });
  return childOf(child, pid, () => !ended, options.output_path);
}

function childOf(child: ChildProcess, pid: number, alive: () => boolean, output_path: string): Child {
  const self: Child = {
    pid,
    isAlive: alive,
    output: () => readIfThere(output_path),
    signal: (signal) => {
      if (alive()) process.kill(pid, signal);
    },
    stop: async (signal) => {
      self.signal(signal);
      const gone = (): boolean => !alive();
      await waitFor(`the end of process ${pid}`, gone, STOP_TIMEOUT_MS).catch(() => killGroup(child));
      await waitFor(`the end of process ${pid} after SIGKILL`, gone, STOP_TIMEOUT_MS);
      // Workers of a master that died before them.
      killGroup(child);
    },
  };
  return self;
}
