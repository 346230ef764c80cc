/**
 * Counts the instructions that a gateway's worker runs for a request, outside the kernel, with valgrind: the figure
 * that does not depend on what else the machine does. Timers of ours are off: valgrind makes requests some fifty times
 * slower, and their cost by time would be counted as a cost by request.
 *   npx tsx ts-src/node/bench/instructions.ts [SECONDS] [STRATEGY,…]
 */
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { findNginx, freePort, http, type Kit, runWrk, waitFor, withKit } from "../testkit";
import { startChild } from "../testkit/child";
import { buildConf } from "../testkit/gateway_conf";
import { nginxArgs, nginxEnv, which } from "../testkit/nginx";
import { newDir } from "../testkit/workdir";
import { type Contender, FLOOR, label, OURS, PEERS } from "./contenders";
import { nginxOptions } from "./gateways";

const CONNECTIONS = 16;

/** Enough for the JIT compiler to have seen all paths: what it does itself must not be counted. */
const WARM_UP_REQUESTS = 10_000;

const NO_TIMERS = "ngx.timer.every = function() return true end";

/** A master would fork, and a user other than root could not enter the directory. */
function confOf(contender: Contender, addresses: string[], dir: string, port: number): string {
  const conf = buildConf(nginxOptions(contender, { addresses, workers: 1 }), dir, port);
  return `master_process off;\n${conf.replace("init_worker_by_lua_block {", `$& ${NO_TIMERS}`)}`;
}

/** The sum that callgrind wrote. */
function totalOf(path: string): number {
  return Number(/^(?:totals|summary): (\d+)/m.exec(readFileSync(path, "utf8"))?.[1]);
}

async function count(kit: Kit, contender: Contender, addresses: string[], seconds: number): Promise<number> {
  const dir = newDir(`count-${contender.name}`, kit.dir);
  const port = await freePort();
  writeFileSync(join(dir, "nginx.conf"), confOf(contender, addresses, dir, port));
  const out = join(dir, "callgrind");
  const valgrind = ["valgrind", "--tool=callgrind", `--callgrind-out-file=${out}`, "--smc-check=all-non-file"];
  const child = startChild([...valgrind, findNginx().bin, ...nginxArgs(dir, join(dir, "nginx.conf"))], {
    cwd: dir,
    env: nginxEnv(),
    output_path: join(dir, "output.log"),
    memory_limit_mb: 0,
  });
  const part = kit.keep({ stop: () => child.stop("SIGKILL") });
  const url = `http://127.0.0.1:${port}`;
  const serves = (): Promise<boolean> =>
    http(`${url}/kit/ready`, { timeout_ms: 2000 }).then(
      () => true,
      () => false,
    );
  await waitFor("nginx under valgrind to serve", serves, 60_000);
  const control = (what: string): Buffer =>
    execFileSync("callgrind_control", [what, String(child.pid)], { stdio: "pipe" });
  const load = async (duration_s: number): Promise<number> =>
    (await runWrk({ url: `${url}/`, connections: CONNECTIONS, duration_s })).requests;
  for (let warm = 0; warm < WARM_UP_REQUESTS;) warm += await load(2);
  control("-z");
  const requests = await load(seconds);
  control("-d");
  await part.stop();
  return totalOf(`${out}.1`) / requests;
}

const seconds = Number(process.argv[2] ?? "8");
const wanted = process.argv[3]?.split(",");
if (which("callgrind_control") === undefined) {
  process.stderr.write("valgrind is not installed: apt-get install valgrind\n");
  process.exit(2);
}
await withKit("instructions", async (kit) => {
  const backends = await kit.backends(6);
  const contenders = [PEERS[0], ...FLOOR, ...OURS.filter(({ name }) => wanted?.includes(name) ?? true)];
  let first: number | undefined;
  for (const contender of contenders) {
    const instructions = await count(
      kit,
      contender,
      backends.map(({ address }) => address),
      seconds,
    );
    first ??= instructions;
    const over = instructions - first;
    process.stdout.write(
      `${label(contender).padEnd(32)} ${instructions.toFixed(0).padStart(7)}  +${over.toFixed(0)}\n`,
    );
  }
});
