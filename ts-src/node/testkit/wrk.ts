import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { guard, onUncleanExit } from "./child";
import { which } from "./nginx";
import { newDir, removeDir } from "./workdir";

export interface WrkOptions {
  url: string;
  /** Connections kept busy: a closed loop, each sends the next request when the last one is answered. */
  connections: number;
  threads?: number;
  duration_s: number;
  /** An answer later than this counts as a time-out, seconds. */
  timeout_s?: number;
  headers?: Record<string, string>;
  /** wrk Lua script (request, response, delay …); its `done` is replaced. */
  script?: string;
}

/** Latencies in ms. Those of requests without an answer are not in them. */
export interface LoadResult {
  requests: number;
  rps: number;
  mean_ms: number;
  p50_ms: number;
  p90_ms: number;
  p99_ms: number;
  p999_ms: number;
  max_ms: number;
  /** Latencies at QUANTILES. */
  quantiles_ms: number[];
  /** status: answers ≥ 400. connect, read, write, timeout: no answer. */
  errors: { status: number; connect: number; read: number; write: number; timeout: number };
}

/** Shares of the requests, 0..1, at which results give the latency: dense where the tail is. */
export const QUANTILES = [
  ...Array.from({ length: 19 }, (_, k) => (k + 1) / 20),
  ...[0.96, 0.97, 0.98, 0.985, 0.99, 0.9925, 0.995, 0.9975, 0.999, 0.9995, 0.9999],
];

const REPORT = "load result: ";

// wrk counts in microseconds.
const DONE = `
function done(summary, latency)
  local errors = summary.errors
  local function ms(us) return us / 1000 end
  local function percentile(p) return ms(latency:percentile(p)) end
  local quantiles = {}
  for k, share in ipairs({ ${QUANTILES.join(", ")} }) do quantiles[k] = percentile(100 * share) end
  io.write(string.format(
    '${REPORT}{"requests":%d,"rps":%.3f,"mean_ms":%.3f,"p50_ms":%.3f,"p90_ms":%.3f,"p99_ms":%.3f,"p999_ms":%.3f,' ..
    '"max_ms":%.3f,"errors":{"status":%d,"connect":%d,"read":%d,"write":%d,"timeout":%d},"quantiles_ms":[%s]}\\n',
    summary.requests, summary.requests / (summary.duration / 1e6), ms(latency.mean),
    percentile(50), percentile(90), percentile(99), percentile(99.9), ms(latency.max),
    errors.status, errors.connect, errors.read, errors.write, errors.timeout, table.concat(quantiles, ",")))
end
`;

function wrkArgs(options: WrkOptions, script_path: string): string[] {
  const args = ["-c", String(options.connections), "-t", String(options.threads ?? 1)];
  args.push("-d", `${options.duration_s}s`, "--timeout", `${options.timeout_s ?? 5}s`, "-s", script_path);
  for (const [name, value] of Object.entries(options.headers ?? {})) args.push("-H", `${name}: ${value}`);
  return [...args, options.url];
}

function run(program: string, args: string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { detached: true, stdio: ["ignore", "pipe", "pipe"] });
    const release = guard(child);
    let output = "";
    child.stdout.on("data", (part: Buffer) => (output += part.toString()));
    child.stderr.on("data", (part: Buffer) => (output += part.toString()));
    child.once("error", reject);
    child.once("close", (code, signal) => {
      release();
      if (code === 0) resolve(output);
      else reject(new Error(`wrk ended with ${signal ?? `status ${code}`}: ${output.trim()}`));
    });
  });
}

/**
 * Where wrk is. Callers that start much before they load it ask first.
 * @throws Error that says how to install it
 */
export function findWrk(): string {
  const program = which("wrk");
  if (program === undefined) throw new Error("wrk is not installed: apt-get install wrk");
  return program;
}

/**
 * Loads `url` with wrk.
 * @param options duration_s is a whole number of seconds, as wrk takes no other
 * @throws Error when wrk is not installed, or did not run to its end
 */
export async function runWrk(options: WrkOptions): Promise<LoadResult> {
  const program = findWrk();
  const dir = newDir("wrk");
  const forget = onUncleanExit(() => removeDir(dir));
  try {
    const script_path = join(dir, "load.lua");
    writeFileSync(script_path, `${options.script ?? ""}\n${DONE}`);
    const output = await run(program, wrkArgs(options, script_path));
    const line = output.split("\n").find((text) => text.startsWith(REPORT));
    if (line === undefined) throw new Error(`wrk gave no result: ${output.trim()}`);
    return JSON.parse(line.slice(REPORT.length)) as LoadResult;
  } finally {
    forget();
    removeDir(dir);
  }
}
