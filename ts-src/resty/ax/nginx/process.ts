import * as ffi from "ffi";
import { readFile } from "./files";

const EPERM = 1;

interface KillLibrary {
  /** kill(2), under a name of our own so that another library's declaration cannot clash. */
  ax_kill(this: void, pid: number, signal: number): number;
}

ffi.cdef('int ax_kill(int pid, int sig) __asm__("kill");');

/** Whether a process exists, whoever owns it. Any phase. */
export function processAlive(pid: number): boolean {
  return (ffi.C as KillLibrary).ax_kill(pid, 0) === 0 || ffi.errno() === EPERM;
}

/**
 * Tells a process from a later one of the same pid: pid and start time (proc(5), /proc/<pid>/stat, field 22), as a
 * text; the pid alone where there is no /proc. Reads a file: timer phase, or at start.
 *
 * @returns undefined when there is no such process
 */
export function processIdentity(pid: number): string | undefined {
  const [stat] = readFile(`/proc/${pid}/stat`);
  if (stat === undefined) return processAlive(pid) ? `${pid}` : undefined;
  // The name, field 2, is in parentheses and may contain anything: fields count from its last one.
  const [state, rest] = string.match(stat, "^.*%) (%S+) (.*)$");
  // A zombie holds nothing any more.
  if (state === undefined || state === "Z" || state === "X") return undefined;
  let field = 4;
  for (const [value] of string.gmatch(rest ?? "", "%S+")) {
    if (field === 22) return `${pid}:${value}`;
    field++;
  }
  return `${pid}`;
}

/**
 * Whether the process that `processIdentity` gave this text for still runs. In doubt it does: a start time that could
 * not be read, then or now (no file descriptor left, no /proc), says nothing against it. Timer phase.
 */
export function isRunning(identity: string): boolean {
  const [pid] = string.match(identity, "^(%d+)");
  const number = tonumber(pid);
  if (number === undefined) return false;
  const found = processIdentity(number);
  return found === identity || found === pid || (found !== undefined && identity === pid);
}

export function workerPid(): number {
  return ngx.worker.pid();
}

/** Workers in the configuration: 1 or more. */
export function workerCount(): number {
  return ngx.worker.count();
}
