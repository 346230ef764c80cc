/**
 * What `up` leaves running, so that `down` finds it: .build/demo.json (or $AX_DEMO_STATE), written by up, read by both,
 * removed by down.
 */
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { isAlive, waitFor } from "../testkit";
import { startTicks } from "../testkit/proc";
import { removeDir, ROOT } from "../testkit/workdir";

/** Specs keep theirs elsewhere: a demo may be up while they run. */
const STATE_PATH = process.env.AX_DEMO_STATE ?? join(ROOT, ".build", "demo.json");

/** A process, and when it started: pids are used again, the two together are not. */
export interface Running {
  name: string;
  pid: number;
  start_ticks: number | undefined;
}

export interface State {
  /** The gateway's address; absent while `up` is still at work. */
  url?: string;
  /** The `up` that wrote this. */
  starter: Running;
  dir: string;
  processes: Running[];
}

export function running(name: string, pid: number): Running {
  return { name, pid, start_ticks: startTicks(pid) };
}

function isStill(process: Running): boolean {
  return isAlive(process.pid) && startTicks(process.pid) === process.start_ticks;
}

function parseState(text: string): State {
  try {
    return JSON.parse(text) as State;
  } catch {
    throw new Error(
      `${STATE_PATH} is damaged: remove it, and end what still runs of the demo (ps -ef | grep build/run/up)`,
    );
  }
}

/** Whether the `up` that wrote this is still starting things. */
export function isStarting(state: State): boolean {
  return state.url === undefined && isStill(state.starter);
}

/** What was left running, and how much of it still is; undefined when nothing was. */
export function readState(): { state: State; alive: Running[] } | undefined {
  if (!existsSync(STATE_PATH)) return undefined;
  const state = parseState(readFileSync(STATE_PATH, "utf8"));
  return { state, alive: state.processes.filter(isStill) };
}

/**
 * The first write of an `up`. Of two at once one gets an error.
 * @throws Error when there is such a file already
 */
export function claimState(state: State): void {
  mkdirSync(dirname(STATE_PATH), { recursive: true });
  try {
    writeFileSync(STATE_PATH, JSON.stringify(state), { flag: "wx" });
  } catch (error) {
    throw (error as NodeJS.ErrnoException).code === "EEXIST" ? new Error(ANOTHER_STARTS) : error;
  }
}

export const ANOTHER_STARTS = "another `make up` is starting: wait for it";

/** Whole files only: a disk that is full must not cost us the pids. */
export function writeState(state: State): void {
  writeFileSync(`${STATE_PATH}.new`, JSON.stringify(state, undefined, 2));
  renameSync(`${STATE_PATH}.new`, STATE_PATH);
}

/** Forgets what was started, when all of it has been stopped already. */
export function forgetState({ dir }: State): void {
  removeDir(dir);
  for (const path of [STATE_PATH, `${STATE_PATH}.new`]) rmSync(path, { force: true });
}

function signal(target: number, name: NodeJS.Signals): void {
  try {
    process.kill(target, name);
  } catch {
    // Gone already.
  }
}

/**
 * Stops what was left running and forgets it.
 * @returns names of the processes stopped
 */
export async function stopAll(): Promise<string[]> {
  const left = readState();
  if (left === undefined) return [];
  for (const { pid } of left.alive) signal(pid, "SIGTERM");
  await waitFor("the demo's processes to end", () => !left.alive.some(isStill), 5000).catch(() => {
    // Each leads a process group, which its workers are in.
    for (const { pid } of left.alive.filter(isStill)) signal(-pid, "SIGKILL");
  });
  forgetState(left.state);
  return left.alive.map(({ name }) => name);
}
