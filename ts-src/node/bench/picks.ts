/** What one pick costs, and whether the hot paths are compiled: no nginx in it. */
import { spawn, spawnSync } from "node:child_process";
import { join } from "node:path";
import { guard } from "../testkit/child";
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

/** @throws Error that says what went wrong when LuaJIT is missing or a path is not compiled */
export async function measurePicks(): Promise<Picks> {
  const found = spawnSync(join(ROOT, "scripts", "find-luajit"), { encoding: "utf8" });
  if (found.status !== 0) throw new Error(found.stderr.trim());
  const luajit = found.stdout.trim();
  const rows = JSON.parse(await run(luajit, ["spec/bench/pick.lua", "--json"])) as PickRow[];
  return { rows, jit: (await run(luajit, ["spec/jit/hot_paths.lua"])).trim() };
}
