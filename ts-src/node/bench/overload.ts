/**
 * Twice as much load as the nodes can take, with the admission queue of lua-resty-ax and with HAProxy's maxconn and
 * priority classes in front of the same nodes, one after the other.
 *
 *   npx tsx ts-src/node/bench/overload.ts [seconds] [service ms] [workers]
 *
 * "empty ms" is how long a place at a node stays empty between two requests while others wait: what the gateway costs in
 * goodput, whatever the service time. With a long service time it can be told on a busy machine too.
 */
import Table from "cli-table3";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Backend, freePort, http, type Kit, waitFor, withKit } from "../testkit";
import { startChild } from "../testkit/child";
import { which } from "../testkit/nginx";
import { percentile } from "../testkit/openloop";
import { newDir, readIfThere } from "../testkit/workdir";
import { CLASSES, offer, rateOf, type Tally, VIP_EVERY } from "./two_classes";

const NODES = 2;

/** Requests that a node takes at a time, and how long it works on one. */
const PLACES = 5;
const SERVICE_MS = Number(process.argv[3] ?? "50");
const WORKERS = Number(process.argv[4] ?? "1");

const CAPACITY_RPS = (NODES * PLACES * 1000) / SERVICE_MS;
const OVERLOAD = 2;

const WARM_UP_S = 3;

/** Until the queue is full, ms: nobody waits yet, and places may be empty. */
const EDGE_MS = 1000;

/** Each gateway is measured so many times, in turn: how much they differ is how far to trust the figures. */
const ROUNDS = 2;

const QUEUE_TIMEOUT_MS = 1000;

interface Figures {
  gateway: string;
  /** Requests served while load came, its first second left out, of those that the nodes could have served meanwhile. */
  goodput: number;
  /** How long a place was empty between two requests, ms: what is missing in goodput. */
  empty_ms: number;
  /** Most requests that a node was working on at a time, by its own count. */
  max_active: number;
  recovered_ms: number;
  tallies: Record<string, Tally>;
}

async function startAx(kit: Kit, backends: Backend[]): Promise<string> {
  const nodes = backends.map(({ address }) => ({ address, max_conns: PLACES }));
  const queue = { size: 100, timeout_ms: QUEUE_TIMEOUT_MS };
  const backend = { nodes, class_source: "header:X-Class", trust_client_class: true, queue };
  const ax = { upstreams: { backend } };
  return (
    await kit.gateway({ workers: WORKERS, servers: backends, ax, access: true, http: "lua_check_client_abort on;" })
  ).url;
}

function haproxyConf(port: number, backends: Backend[]): string {
  const servers = backends.map(({ name, address }) => `  server ${name} ${address} maxconn ${PLACES}`);
  return `
global
  maxconn 4000
  nbthread ${WORKERS}
defaults
  mode http
  timeout client 30s
  timeout server 30s
  timeout connect 5s
  timeout queue ${QUEUE_TIMEOUT_MS}ms
listen front
  bind 127.0.0.1:${port}
  balance leastconn
  http-request set-priority-class int(-10) if { req.hdr(X-Class) vip }
  http-request set-priority-class int(10) if { req.hdr(X-Class) batch }
${servers.join("\n")}
`;
}

async function startHaproxy(kit: Kit, backends: Backend[]): Promise<{ url: string; stop: () => Promise<void> }> {
  const program = which("haproxy");
  if (program === undefined) throw new Error("haproxy is not installed: apt-get install haproxy");
  const dir = newDir("haproxy", kit.dir);
  const port = await freePort();
  const conf_path = join(dir, "haproxy.cfg");
  const output_path = join(dir, "output.log");
  writeFileSync(conf_path, haproxyConf(port, backends));
  const child = startChild([program, "-db", "-f", conf_path], { cwd: dir, output_path, memory_limit_mb: 4000 });
  const url = `http://127.0.0.1:${port}`;
  await waitFor("haproxy to serve", async () => {
    if (!child.isAlive()) throw new Error(`haproxy ended: ${readIfThere(output_path)}`);
    return http(`${url}/`).then(
      () => true,
      () => false,
    );
  });
  return { url, stop: () => child.stop("SIGTERM") };
}

/** How long until a request is served like on an idle gateway, ms. */
async function recovery(url: string): Promise<number> {
  const start_ms = performance.now();
  await waitFor("the gateway to be idle", async () => {
    const sent_ms = performance.now();
    const answer = await http(`${url}/`, { headers: { "X-Class": "batch" } });
    return answer.status === 200 && performance.now() - sent_ms < 2 * SERVICE_MS;
  });
  return performance.now() - start_ms;
}

async function measure(gateway: string, url: string, backends: Backend[], duration_s: number): Promise<Figures> {
  for (const backend of backends) await backend.resetCounters();
  const start_ms = performance.now();
  const tallies = await offer(url, CAPACITY_RPS * OVERLOAD, duration_s);
  const recovered_ms = await recovery(url);
  const counters = await Promise.all(backends.map((backend) => backend.counters()));
  const max_active = Math.max(...counters.map((counter) => counter.max_active));
  const at_ms = Object.values(tallies).flatMap((tally) => tally.served_at_ms);
  const to_ms = start_ms + duration_s * 1000;
  const goodput = rateOf(at_ms.filter((time) => time >= start_ms + EDGE_MS && time < to_ms)) / CAPACITY_RPS;
  return { gateway, goodput, empty_ms: SERVICE_MS / goodput - SERVICE_MS, max_active, recovered_ms, tallies };
}

function rowsOf({ gateway, goodput, empty_ms, max_active, recovered_ms, tallies }: Figures): string[][] {
  return CLASSES.map((name, k) => {
    const { served_ms, refused_ms, other } = tallies[name];
    served_ms.sort((a, b) => a - b);
    refused_ms.sort((a, b) => a - b);
    const times = [percentile(served_ms, 0.5), percentile(served_ms, 0.99), percentile(refused_ms, 0.5)];
    const shared =
      k === 0 ? [goodput.toFixed(3), empty_ms.toFixed(1), String(max_active), recovered_ms.toFixed(0)] : [];
    const counts = [served_ms.length, refused_ms.length, other.length].map(String);
    return [k === 0 ? gateway : "", name, ...counts, ...times.map((time) => time.toFixed(0)), ...shared];
  });
}

async function main(duration_s: number): Promise<void> {
  const head = ["gateway", "class", "served", "refused", "other", "P50 ms", "P99 ms", "refusal P50 ms"];
  const table = new Table({
    head: [...head, "goodput / capacity", "empty ms", "most at a node", "idle after ms"],
    style: { head: [] },
  });
  await withKit("overload", async (kit) => {
    const settings = { delay: { dist: "fixed", mean_ms: SERVICE_MS }, slots: PLACES } as const;
    const backends = await kit.backends(NODES, { settings });
    const ax = await startAx(kit, backends);
    const haproxy = await startHaproxy(kit, backends);
    try {
      // What runs first pays for the generator's own start: so nothing of this is counted.
      for (const url of [ax, haproxy.url]) await offer(url, CAPACITY_RPS * OVERLOAD, WARM_UP_S);
      for (let round = 1; round <= ROUNDS; round++) {
        table.push(...rowsOf(await measure("lua-resty-ax", ax, backends, duration_s)));
        table.push(...rowsOf(await measure("HAProxy", haproxy.url, backends, duration_s)));
      }
    } finally {
      await haproxy.stop();
    }
  });
  console.log(
    `${NODES} nodes × ${PLACES} places × ${SERVICE_MS} ms = ${CAPACITY_RPS} requests/s; ${OVERLOAD} times that for ` +
      `${duration_s} s, every ${VIP_EVERY}th of the first class; requests wait ${QUEUE_TIMEOUT_MS} ms at most`,
  );
  console.log(table.toString());
}

await main(Number(process.argv[2] ?? "10"));
