import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { ROOT } from "./workdir";

let found: string | undefined;

/**
 * The LuaJIT that specs and simulations run on.
 * @throws Error that says where it was looked for when there is none
 */
export function findLuajit(): string {
  if (found !== undefined) return found;
  const run = spawnSync(join(ROOT, "scripts", "find-luajit"), { encoding: "utf8" });
  if (run.status !== 0) throw new Error(run.stderr.trim());
  return (found = run.stdout.trim());
}
