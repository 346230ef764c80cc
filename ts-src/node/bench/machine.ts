/** On what the figures were measured. */
import { execFileSync, spawnSync } from "node:child_process";
import { arch, cpus, loadavg, release, totalmem } from "node:os";
import { findNginx } from "../testkit";
import { findLuajit } from "../testkit/luajit";
import { which } from "../testkit/nginx";

export interface Machine {
  cpu: string;
  cores: number;
  memory_gib: number;
  kernel: string;
  /** Of the last minute, before the first measurement: what else the machine does. */
  load_average: number;
  versions: Record<string, string>;
}

function firstLine(program: string, args: string[]): string | undefined {
  if (which(program) === undefined) return undefined;
  const run = spawnSync(program, args, { encoding: "utf8" });
  return `${run.stdout}${run.stderr}`.split("\n", 1)[0];
}

function luajit(): string {
  return execFileSync(findLuajit(), ["-v"], { encoding: "utf8" }).split(" -- ", 1)[0];
}

export function describeMachine(): Machine {
  const haproxy = firstLine("haproxy", ["-v"])?.replace(/^HAProxy version (\S+).*/, "$1");
  const wrk = firstLine("wrk", ["-v"])?.replace(/^wrk (.*?) \[.*/, "$1");
  return {
    cpu: cpus()[0]?.model.trim() ?? arch(),
    cores: cpus().length,
    memory_gib: Math.round(totalmem() / 2 ** 30),
    kernel: release(),
    load_average: loadavg()[0],
    versions: {
      nginx: findNginx().version,
      luajit: luajit(),
      node: process.versions.node,
      ...(haproxy !== undefined && { haproxy }),
      ...(wrk !== undefined && { wrk }),
    },
  };
}

/** One line of text. */
export function machineLine(machine: Machine): string {
  const versions = Object.entries(machine.versions).map(([name, version]) => `${name} ${version}`);
  return (
    `${machine.cores} × ${machine.cpu}, ${machine.memory_gib} GiB, Linux ${machine.kernel}; ${versions.join(", ")}; ` +
    `load average before the run ${machine.load_average.toFixed(2)}`
  );
}
