/**
 * What `up` leaves running, so that `down` finds it: .build/demo.json (or $AX_DEMO_STATE), written by up, read by both,
 * removed by down.
 */
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, sep } from "node:path";
import { z } from "zod";
import { replaceFile, systemReason } from "../cli/files";
import { isAlive, waitFor } from "../testkit";
import { groupMembers, startTicks, workingDir } from "../testkit/proc";
import { removeDir, ROOT } from "../testkit/workdir";

/** Specs keep theirs elsewhere: a demo may be up while they run. */
const STATE_PATH = process.env.AX_DEMO_STATE ?? join(ROOT, ".build", "demo.json");

/** A process, and when it started: pids are used again, the two together are not. */
const runningSchema = z.object({ name: z.string(), pid: z.number().int().min(1), start_ticks: z.number().optional() });

export type Running = z.infer<typeof runningSchema>;

const stateSchema = z.object({
  /** The gateway's address; absent while `up` is still at work. */
  url: z.string().optional(),
  strategy: z.string().optional(),
  /** The `up` that wrote this. */
  starter: runningSchema,
  dir: z.string().min(1),
  processes: z.array(runningSchema),
});

export type State = z.infer<typeof stateSchema>;

export function running(name: string, pid: number): Running {
  return { name, pid, start_ticks: startTicks(pid) };
}

function isStill(process: Running): boolean {
  return isAlive(process.pid) && startTicks(process.pid) === process.start_ticks;
}

function parseState(text: string): State {
  try {
    return stateSchema.parse(JSON.parse(text));
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
    if ((error as NodeJS.ErrnoException).code === "EEXIST") throw new Error(ANOTHER_STARTS, { cause: error });
    // Ours, and empty.
    rmSync(STATE_PATH, { force: true });
    throw new Error(`cannot write ${STATE_PATH}: ${systemReason(error)}`, { cause: error });
  }
}

/** nginx ends at once; a busy machine takes its time. */
const STOP_TIMEOUT_MS = 5000;

export const ANOTHER_STARTS = "another `make up` is starting: wait for it";

/** Whole files only: a disk that is full must not cost us the pids. */
export function writeState(state: State): void {
  replaceFile(STATE_PATH, JSON.stringify(state, undefined, 2));
}

/** Forgets what was started, when all of it has been stopped already. */
export function forgetState({ dir }: State): void {
  removeDir(dir);
  rmSync(STATE_PATH, { force: true });
}

function signal(target: number, name: NodeJS.Signals): void {
  try {
    process.kill(target, name);
  } catch {
    // Gone already.
  }
}

/**
 * What is left of a process: itself, or, where it was killed, its workers, which go on without it. Each process leads
 * a group, which they are in; by their directory they are known from a stranger's group that got the number later.
 */
function remains(process: Running, dir: string): number[] {
  if (isStill(process)) return [process.pid];
  return groupMembers(process.pid).filter((pid) => workingDir(pid).startsWith(dir + sep));
}

/**
 * Stops what was left running and forgets it.
 * @returns names of the processes stopped
 */
export async function stopAll(): Promise<string[]> {
  const left = readState();
  if (left === undefined) return [];
  const { dir, processes } = left.state;
  const remaining = (): number[] => processes.flatMap((process) => remains(process, dir));
  const stopped = processes.filter((process) => remains(process, dir).length > 0);
  for (const pid of remaining()) signal(pid, "SIGTERM");
  await waitFor("the demo's processes to end", () => remaining().length === 0, STOP_TIMEOUT_MS).catch(async () => {
    for (const process of processes.filter(isStill)) signal(-process.pid, "SIGKILL");
    for (const pid of remaining()) signal(pid, "SIGKILL");
    await waitFor("the demo's processes to end after SIGKILL", () => remaining().length === 0, STOP_TIMEOUT_MS);
  });
  forgetState(left.state);
  return stopped.map(({ name }) => name);
}
