/** Starting an nginx, for backends and gateways alike. */
import { spawnSync } from "node:child_process";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Child, startChild } from "./child";
import { findNginx, nginxArgs, nginxEnv } from "./nginx";
import { pause, waitFor } from "./wait";
import { readIfThere } from "./workdir";

/** How often a start is tried again with other ports when somebody else took them in between. */
const PORT_RACES_MAX = 5;

export interface ServerOptions {
  /** Its directory: configuration, logs, temporary files, pid. */
  dir: string;
  /** Text of nginx.conf. */
  conf: string;
  memory_limit_mb: number;
  env?: Record<string, string>;
  leave_running?: boolean;
  /** True when it serves. Asked again and again while the process lives. */
  isReady: (child: Child) => Promise<boolean>;
}

/** nginx did not start. `output` is what it said: the place to look for complaints about a configuration. */
export class NginxStartError extends Error {
  readonly output: string;
  readonly dir: string;

  constructor(output: string, dir: string) {
    super(`nginx did not start (files in ${dir}):\n${output.trim()}`);
    this.name = "NginxStartError";
    this.output = output;
    this.dir = dir;
  }
}

export function errorLogPath(dir: string): string {
  return join(dir, "error.log");
}

function confPath(dir: string): string {
  return join(dir, "nginx.conf");
}

/** Everything this nginx wrote: its output, and of its error log what it did not also put out. */
function complaints(dir: string): string {
  const output = readIfThere(join(dir, "output.log"));
  const log = readIfThere(errorLogPath(dir)).split("\n");
  // "2026/01/31 23:59:59 [emerg] 17#17: text" in the log is "nginx: [emerg] text" in the output.
  const asPutOut = (line: string): string => line.replace(/^\S+ \S+ (\[\w+\]) \d+#\d+: /, "nginx: $1 ");
  return output + log.filter((line) => !output.includes(asPutOut(line))).join("\n");
}

/**
 * Starts nginx and waits until it serves.
 * @throws NginxStartError when it ends instead, or does not serve in time
 */
export async function startServer(options: ServerOptions): Promise<Child> {
  const { dir } = options;
  rmSync(join(dir, "output.log"), { force: true });
  writeFileSync(confPath(dir), options.conf);
  const child = startChild([findNginx().bin, ...nginxArgs(dir, confPath(dir))], {
    cwd: dir,
    output_path: join(dir, "output.log"),
    memory_limit_mb: options.memory_limit_mb,
    env: nginxEnv(options.env),
    leave_running: options.leave_running,
  });
  try {
    await waitFor("nginx to serve", async () => !child.isAlive() || (await options.isReady(child)));
  } catch (error) {
    await child.stop("SIGKILL");
    throw new NginxStartError(`${complaints(dir)}\n${(error as Error).message}`, dir);
  }
  if (!child.isAlive()) throw new NginxStartError(complaints(dir), dir);
  return child;
}

/** What `nginx -t` says of the configuration in `dir`. */
export function checkConfiguration(dir: string, conf: string): { ok: boolean; output: string } {
  writeFileSync(confPath(dir), conf);
  const args = ["-t", ...nginxArgs(dir, confPath(dir))];
  const run = spawnSync(findNginx().bin, args, { cwd: dir, env: nginxEnv(), encoding: "utf8" });
  return { ok: run.status === 0, output: run.stdout + run.stderr };
}

/** Runs `start`, again with new ports when a port was taken between finding it and binding it. */
export async function despitePortRaces<T>(start: () => Promise<T>): Promise<T> {
  for (let races = 1; ; races++) {
    try {
      return await start();
    } catch (error) {
      const taken = error instanceof NginxStartError && error.output.includes("Address already in use");
      if (!taken || races >= PORT_RACES_MAX) throw error;
      await pause(20 * races);
    }
  }
}
