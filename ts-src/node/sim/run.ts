import { spawn, spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Job, Result } from "../../sim/job";
import { guard } from "../testkit/child";
import { ROOT } from "../testkit/workdir";

/** Where Debian keeps compiled Lua modules; LuaJIT of other origin does not look there. */
function luaCpath(): string {
  const found = ["x86_64-linux-gnu", "aarch64-linux-gnu"].map((arch) => `/usr/lib/${arch}/lua/5.1`).filter(existsSync);
  return [...(process.env["LUA_CPATH"] ?? ";;").split(";"), ...found.map((dir) => `${dir}/?.so`)].join(";");
}

let luajit: string | undefined;

function findLuajit(): string {
  if (luajit !== undefined) return luajit;
  const found = spawnSync(join(ROOT, "scripts", "find-luajit"), { encoding: "utf8" });
  if (found.status !== 0) throw new Error(found.stderr.trim());
  return (luajit = found.stdout.trim());
}

/** Runs one job in a process of its own: the shipped Lua of the library, the simulator's around it. */
export function runJob(job: Job): Promise<Result> {
  const env = {
    ...process.env,
    LUA_PATH: `lua-out/?.lua;.build/sim-lua/?.lua;${process.env["LUA_PATH"] ?? ";;"}`,
    LUA_CPATH: luaCpath(),
  };
  return new Promise((resolve, reject) => {
    const main = join(".build", "sim-lua", "sim", "main.lua");
    const child = spawn(findLuajit(), [main], { cwd: ROOT, env, detached: true });
    // Whoever ends this process ends the runs too, Ctrl-C or not.
    const release = guard(child);
    let out = "";
    let err = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => (out += text));
    child.stderr.setEncoding("utf8").on("data", (text: string) => (err += text));
    child.on("error", reject);
    child.on("close", (code) => {
      release();
      if (code !== 0) reject(new Error(`${job.name}, ${job.bound ?? job.strategy}, seed ${job.seed}: ${err.trim()}`));
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

/** Runs all, `width` at a time; results in the order of the jobs. */
export async function runJobs(jobs: Job[], width: number, onDone: (result: Result) => void): Promise<Result[]> {
  const results: Result[] = [];
  let next = 0;
  async function lane(): Promise<void> {
    while (next < jobs.length) {
      const at = next++;
      results[at] = await runJob(jobs[at]);
      onDone(results[at]);
    }
  }
  await Promise.all(Array.from({ length: width }, lane));
  return results;
}
