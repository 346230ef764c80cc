import { writeSync } from "node:fs";
import { type Backend, type BackendOptions, startBackend, startBackends } from "./backend";
import { onUncleanExit } from "./child";
import { type Gateway, startGateway } from "./gateway";
import type { GatewayOptions } from "./gateway_conf";
import { newDir, removeDir } from "./workdir";

/** What a test or a benchmark starts, so that all of it can be stopped together. */
export interface Kit {
  /** Configurations and logs of everything it starts. */
  dir: string;
  backend(options?: BackendOptions): Promise<Backend>;
  backends(count: number, options?: BackendOptions): Promise<Backend[]>;
  gateway(options: GatewayOptions): Promise<Gateway>;
  /** Stops `part`, which was started by other means, together with the rest. */
  keep<T extends { stop(): Promise<void> }>(part: T): T;
  /**
   * Stops everything, in the opposite order of starting. Logs go, unless `failed`: then they stay,
   * and their directory is printed on stderr.
   */
  stop(result?: { failed?: boolean }): Promise<void>;
}

function whereLogsAre(label: string, dir: string): string {
  return `${label}: configurations and logs are kept in ${dir}\n`;
}

export interface KitOptions {
  /** Whether logs stay when Ctrl-C ends the run; true by default, as one may have waited for something that hung. */
  keep_when_interrupted?: boolean;
}

/** @param label what it is for; part of the directory's name */
export function newKit(label: string, { keep_when_interrupted = true }: KitOptions = {}): Kit {
  const dir = newDir(label);
  const parts: { stop(): Promise<void> }[] = [];
  const forget = onUncleanExit((signal) => {
    if (signal === "SIGINT" && !keep_when_interrupted) removeDir(dir);
    // Past process.stderr: a progress display may hold back what goes through it, and there is no later.
    else writeSync(2, whereLogsAre(label, dir));
  });
  const keep = <T extends { stop(): Promise<void> }>(part: T): T => {
    parts.push(part);
    return part;
  };
  return {
    dir,
    keep,
    backend: async (options) => keep(await startBackend({ ...options, parent_dir: dir })),
    backends: async (count, options) => (await startBackends(count, { ...options, parent_dir: dir })).map(keep),
    gateway: async (options) => keep(await startGateway({ ...options, parent_dir: dir })),
    stop: async ({ failed = false } = {}) => {
      forget();
      const results = await Promise.allSettled(parts.reverse().map((part) => part.stop()));
      parts.length = 0;
      const problem = results.find((result) => result.status === "rejected");
      if (failed || problem !== undefined) process.stderr.write(whereLogsAre(label, dir));
      else removeDir(dir);
      if (problem !== undefined) throw problem.reason;
    },
  };
}

/**
 * Runs `body` with a kit of its own and stops everything afterwards. When `body` throws, logs are
 * kept and the error goes on.
 */
export async function withKit<T>(label: string, body: (kit: Kit) => T | Promise<T>, options?: KitOptions): Promise<T> {
  const kit = newKit(label, options);
  let result: T;
  try {
    result = await body(kit);
  } catch (error) {
    await kit.stop({ failed: true });
    throw error;
  }
  await kit.stop();
  return result;
}
