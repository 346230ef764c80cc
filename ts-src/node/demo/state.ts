/**
 * What `up` leaves running, so that `down` finds it: .build/demo.json (or $AX_DEMO_STATE), written by up, read by both,
 * removed by down.
 */
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
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
  dir: string;
  processes: Running[];
}

export function running(name: string, pid: number): Running {
  return { name, pid, start_ticks: startTicks(pid) };
}

function isStill(process: Running): boolean {
  return isAlive(process.pid) && startTicks(process.pid) === process.start_ticks;
}

/** What was left running, and how much of it still is; undefined when nothing was. */
export function readState(): { state: State; alive: Running[] } | undefined {
  if (!existsSync(STATE_PATH)) return undefined;
  const state = JSON.parse(readFileSync(STATE_PATH, "utf8")) as State;
  return { state, alive: state.processes.filter(isStill) };
}

export function writeState(state: State): void {
  mkdirSync(dirname(STATE_PATH), { recursive: true });
  writeFileSync(STATE_PATH, JSON.stringify(state, undefined, 2));
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
  removeDir(left.state.dir);
  rmSync(STATE_PATH, { force: true });
  return left.alive.map(({ name }) => name);
}
