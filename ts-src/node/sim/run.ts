import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Job, Result } from "../../sim/job";
import { UsageError } from "../cli/arguments";
import { guard } from "../testkit/child";
import { findLuajit } from "../testkit/luajit";
import { ROOT } from "../testkit/workdir";

/** Where Debian keeps compiled Lua modules; LuaJIT of other origin does not look there. */
function luaCpath(): string {
  const found = ["x86_64-linux-gnu", "aarch64-linux-gnu"].map((arch) => `/usr/lib/${arch}/lua/5.1`).filter(existsSync);
  return [...(process.env["LUA_CPATH"] ?? ";;").split(";"), ...found.map((dir) => `${dir}/?.so`)].join(";");
}

/**
 * What a run's process said before it failed. Of a configuration that the library refuses, its list of problems: where
 * in the code it was refused tells nothing. The rest of a failure is a fault of ours, and its trace is needed.
 */
function runError(job: Job, said: string): Error {
  const refusal = /lua-resty-ax: \d+ problems? in the configuration[^]*?(?=\nstack traceback:|$)/.exec(said)?.[0];
  if (refusal !== undefined) return new UsageError(`${job.name}, ${job.strategy}: ${refusal}`);
  return new Error(`${job.name}, ${job.bound ?? job.strategy}, seed ${job.seed}: ${said}`);
}

/**
 * Runs one job in a process of its own: the shipped Lua of the library, the simulator's around it.
 * @param signal ends it
 */
export function runJob(job: Job, signal?: AbortSignal): Promise<Result> {
  const env = {
    ...process.env,
    LUA_PATH: `lua-out/?.lua;.build/sim-lua/?.lua;${process.env["LUA_PATH"] ?? ";;"}`,
    LUA_CPATH: luaCpath(),
  };
  return new Promise((resolve, reject) => {
    const main = join(".build", "sim-lua", "sim", "main.lua");
    const child = spawn(findLuajit(), [main], { cwd: ROOT, env, detached: true, signal });
    // Whoever ends this process ends the runs too, Ctrl-C or not.
    const release = guard(child);
    let out = "";
    let err = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => (out += text));
    child.stderr.setEncoding("utf8").on("data", (text: string) => (err += text));
    child.on("error", reject);
    child.on("close", (code) => {
      release();
      if (code !== 0) reject(runError(job, err.trim()));
      else resolve(readResult(out));
    });
    // A child that dies at once breaks the pipe; its exit code says why.
    child.stdin.on("error", () => undefined);
    child.stdin.end(JSON.stringify(job));
  });
}

/** Lua knows no empty arrays: they arrive as {}. */
function readResult(text: string): Result {
  const result = JSON.parse(text) as Result;
  if (!Array.isArray(result.faults)) result.faults = [];
  if (!Array.isArray(result.classes)) result.classes = [];
  if (!Array.isArray(result.refused)) result.refused = [];
  if (!Array.isArray(result.series.tries)) result.series.tries = [];
  if (!Array.isArray(result.series.weights)) result.series.weights = [];
  return result;
}

/**
 * Runs all, `width` at a time; results in the order of the jobs.
 * @throws Error of the first run that fails; it ends the others
 */
export async function runJobs(jobs: Job[], width: number, onDone: (result: Result) => void): Promise<Result[]> {
  const results: Result[] = [];
  const failed = new AbortController();
  let next = 0;
  async function lane(): Promise<void> {
    while (next < jobs.length && !failed.signal.aborted) {
      const at = next++;
      results[at] = await runJob(jobs[at], failed.signal);
      onDone(results[at]);
    }
  }
  try {
    await Promise.all(Array.from({ length: width }, lane));
  } finally {
    failed.abort();
  }
  return results;
}
