/** What /proc tells of processes. Linux only, like the rest of the kit. */
import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync, readlinkSync } from "node:fs";

/** One line of /proc/<pid>/stat, as far as the kit needs it. Times in clock ticks. */
interface Stat {
  state: string;
  ppid: number;
  pgrp: number;
  own_ticks: number;
  reaped_children_ticks: number;
  start_ticks: number;
}

let ticks_per_s: number | undefined;

function ticksPerSecond(): number {
  ticks_per_s ??= Number(execFileSync("getconf", ["CLK_TCK"], { encoding: "utf8" }));
  return ticks_per_s;
}

function readStat(pid: number): Stat | undefined {
  let line: string;
  try {
    line = readFileSync(`/proc/${pid}/stat`, "utf8");
  } catch {
    return undefined;
  }
  // The name in parentheses may hold spaces and parentheses: count fields from the last ")".
  const fields = line.slice(line.lastIndexOf(")") + 2).split(" ");
  const field = (n: number): number => Number(fields[n]);
  return {
    state: fields[0] ?? "",
    ppid: field(1),
    pgrp: field(2),
    own_ticks: field(11) + field(12),
    reaped_children_ticks: field(13) + field(14),
    start_ticks: field(19),
  };
}

/** True while the process exists and is not a zombie. */
export function isAlive(pid: number): boolean {
  const stat = readStat(pid);
  return stat !== undefined && stat.state !== "Z" && stat.state !== "X";
}

/** When the process started, in clock ticks since boot: with the pid it names a process for ever. */
export function startTicks(pid: number): number | undefined {
  return readStat(pid)?.start_ticks;
}

/** What the process calls itself, e.g. "nginx: worker process". Empty for one that is gone. */
export function title(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ").trim();
  } catch {
    return "";
  }
}

/** pids of the living processes that a condition holds for, ascending. */
function livingWhere(holds: (stat: Stat) => boolean): number[] {
  const pids = readdirSync("/proc").map(Number).filter(Number.isInteger);
  const living = pids.filter((pid) => {
    const stat = readStat(pid);
    return stat !== undefined && stat.state !== "Z" && holds(stat);
  });
  return living.sort((a, b) => a - b);
}

/** pids of the living children, ascending. */
export function childrenOf(pid: number): number[] {
  return livingWhere((stat) => stat.ppid === pid);
}

/** pids of the living members of a process group, ascending; also of one whose leader has ended. */
export function groupMembers(leader: number): number[] {
  return livingWhere((stat) => stat.pgrp === leader);
}

/** The directory that a process works in, also when it has been removed since; empty for one that is gone. */
export function workingDir(pid: number): string {
  try {
    return readlinkSync(`/proc/${pid}/cwd`).replace(/ \(deleted\)$/, "");
  } catch {
    return "";
  }
}

/**
 * CPU time used so far by a process, its living descendants, and those of its children that have
 * ended, in seconds (user and system; resolution one clock tick, usually 10 ms).
 * Take the difference of two readings.
 */
export function cpuSeconds(pid: number): number {
  let ticks = 0;
  const visit = (current: number): void => {
    const stat = readStat(current);
    if (stat === undefined) return;
    ticks += stat.own_ticks + stat.reaped_children_ticks;
    for (const child of childrenOf(current)) visit(child);
  };
  visit(pid);
  return ticks / ticksPerSecond();
}

/** The whole machine's CPU seconds since boot, over all cores. */
export function machineCpuSeconds(): { busy_s: number; idle_s: number } {
  const line = readFileSync("/proc/stat", "utf8").split("\n", 1)[0] ?? "";
  // cpu user nice system idle iowait irq softirq steal …
  const ticks = line.split(/\s+/).slice(1, 9).map(Number);
  const total = ticks.reduce((sum, n) => sum + n, 0);
  const idle = (ticks[3] ?? 0) + (ticks[4] ?? 0);
  return { busy_s: (total - idle) / ticksPerSecond(), idle_s: idle / ticksPerSecond() };
}

/** Memory of a process that is in RAM, kB; 0 for one that is gone. */
export function residentKb(pid: number): number {
  try {
    return Number(/^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0);
  } catch {
    return 0;
  }
}
