/** What one pick costs, and whether the hot paths are compiled: no nginx in it. */
import { spawn } from "node:child_process";
import { guard } from "../testkit/child";
import { findLuajit } from "../testkit/luajit";
import { ROOT } from "../testkit/workdir";

export interface PickRow {
  strategy: string;
  pick_ns_10: number;
  pick_ns_64: number;
  pick_ns_1000: number;
  pick_ns_10000: number;
  request_ns_10: number;
}

export interface Picks {
  /** ns of CPU. */
  rows: PickRow[];
  /** What the JIT check says, a line. */
  jit: string;
}

/** Measured with all strategies on an idle machine, s. */
export const PICKS_S = 75;

function run(luajit: string, args: string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(luajit, args, { cwd: ROOT, detached: true, stdio: ["ignore", "pipe", "pipe"] });
    const release = guard(child);
    const output = { out: "", err: "" };
    child.stdout.on("data", (part: Buffer) => (output.out += part.toString()));
    child.stderr.on("data", (part: Buffer) => (output.err += part.toString()));
    child.once("error", reject);
    child.once("close", (code) => {
      release();
      const said = output.err.trim() || output.out.trim();
      if (code === 0) resolve(output.out);
      else reject(new Error(`${args[0]} failed: ${said.split("\n")[0]}`));
    });
  });
}

/** Pools that the JIT check runs: compared without a loop, in a loop, and drawn from. */
const JIT_SIZES = ["6", "64", "1000"];

/** Each strategy and size in a process of its own, as in a gateway; one that aborts a trace ends with an error. */
export async function checkCompiled(luajit: string, strategies: string[]): Promise<string> {
  let traces = 0;
  for (const name of strategies) {
    for (const nodes of JIT_SIZES) traces += parseInt(await run(luajit, ["spec/jit/hot_paths.lua", name, nodes]), 10);
  }
  return `${traces} traces compiled, 0 aborted`;
}

/** @throws Error that says what went wrong when LuaJIT is missing or a path is not compiled */
export async function measurePicks(): Promise<Picks> {
  const luajit = findLuajit();
  const rows = JSON.parse(await run(luajit, ["spec/bench/pick.lua", "--json"])) as PickRow[];
  const jit = await checkCompiled(
    luajit,
    rows.map((row) => row.strategy),
  );
  return { rows, jit };
}
