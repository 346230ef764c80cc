/** Starts a contender's gateway from the files in nginx/bench. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { cpuSeconds, freePort, type GatewayOptions, http, type Kit, waitFor } from "../testkit";
import { startChild } from "../testkit/child";
import { newDir, readIfThere, render, ROOT } from "../testkit/workdir";
import type { ClassLoad } from "./class_load";
import { type Contender, fairModule } from "./contenders";

export const BENCH_DIR = join(ROOT, "nginx", "bench");

/** A running gateway of whatever make. */
export interface Target {
  url: string;
  /** Of all its processes so far. */
  cpuSeconds(): number;
  isAlive(): boolean;
  /** Statuses that it refuses with when the nodes are full. */
  refusals: number[];
}

export interface TargetOptions {
  /** Addresses of the nodes, "127.0.0.1:8080". */
  addresses: string[];
  workers: number;
  /** Of ours: more entries of the upstream's configuration, Lua text such as `hash_key = "arg:key"`. */
  options?: string;
  /** Nodes have limits, and requests are of two classes. */
  classes?: ClassLoad;
}

const HAPROXY_MEMORY_MB = 4000;

/** Idle connections to the nodes that a worker keeps, unless the pool is so large that it needs more. */
const KEEPALIVE_MIN = 256;

const read = (...path: string[]): string => readFileSync(join(BENCH_DIR, ...path), "utf8");

function luaPeers(addresses: string[]): string {
  return addresses.map((address) => `{ "${address.split(":")[0]}", ${address.split(":")[1]} }`).join(", ");
}

/** Of ours: classes by a header, and a queue. */
const classOptions = ({ queue_size, queue_timeout_ms }: ClassLoad): string =>
  `class_source = "header:X-Class", trust_client_class = true, queue = { size = ${queue_size}, timeout_ms = ${queue_timeout_ms} }`;

/** What the test kit needs to know for a contender of nginx's or ours. */
export function nginxOptions(contender: Contender, options: TargetOptions): GatewayOptions {
  const { addresses, workers, classes } = options;
  const partOf = (where: string): string =>
    readIfThere(join(BENCH_DIR, "contenders", `${contender.config}.${where}.conf`));
  const ours = [options.options, classes === undefined ? undefined : classOptions(classes)];
  return {
    name: `${contender.by}-${contender.name}`,
    template: join(BENCH_DIR, "gateway.conf"),
    balancer: "none",
    servers: addresses.map((address) => (classes === undefined ? address : `${address} max_conns=${classes.places}`)),
    workers,
    keepalive: Math.max(KEEPALIVE_MIN, 2 * addresses.length),
    words: {
      load_contender: contender.config === "fair" ? `load_module ${fairModule() ?? ""};` : "",
      contender: read("contenders", `${contender.config}.conf`),
      contender_location: classes === undefined ? "" : partOf("classes"),
      contender_http: render(partOf("http"), {
        bench_dir: BENCH_DIR,
        peers: luaPeers(addresses),
        lua_out: join(ROOT, "lua-out"),
        strategy: contender.strategy ?? "",
        options: ours.map((text) => (text === undefined ? "" : `, ${text}`)).join(""),
      }),
    },
  };
}

async function startNginx(kit: Kit, contender: Contender, options: TargetOptions): Promise<Target> {
  const gateway = await kit.gateway(nginxOptions(contender, options));
  return {
    url: gateway.url,
    cpuSeconds: () => gateway.cpuSeconds(),
    isAlive: () => gateway.isAlive(),
    // nginx's own policies have no status for it: a request that finds no node gets 502.
    refusals: contender.by === "ax" ? [503] : [502, 503],
  };
}

/** HAProxy's lines for classes: who waits at a node's limit goes by priority, and not for ever. */
function haproxyClasses({ queue_timeout_ms }: ClassLoad): string {
  return [
    `    timeout queue ${queue_timeout_ms}ms`,
    "    http-request set-priority-class int(-10) if { req.hdr(X-Class) vip }",
    "    http-request set-priority-class int(10) if { req.hdr(X-Class) batch }",
  ].join("\n");
}

async function startHaproxy(kit: Kit, contender: Contender, options: TargetOptions): Promise<Target> {
  const dir = newDir(`haproxy-${contender.name}`, kit.dir);
  const port = await freePort();
  const { workers, classes } = options;
  const limit = classes === undefined ? "" : ` maxconn ${classes.places}`;
  const servers = options.addresses.map((address, k) => `    server n${k + 1} ${address}${limit}`).join("\n");
  const class_lines = classes === undefined ? "" : haproxyClasses(classes);
  const words = { port, workers, balance: contender.config, servers, classes: class_lines };
  writeFileSync(join(dir, "haproxy.cfg"), render(read("haproxy.cfg"), words));
  const output_path = join(dir, "output.log");
  const child = startChild(["haproxy", "-db", "-f", join(dir, "haproxy.cfg")], {
    cwd: dir,
    output_path,
    memory_limit_mb: HAPROXY_MEMORY_MB,
  });
  kit.keep({ stop: () => child.stop("SIGTERM") });
  const url = `http://127.0.0.1:${port}`;
  await waitFor("haproxy to serve", async () => {
    if (!child.isAlive()) throw new Error(`haproxy did not start:\n${readIfThere(output_path).trim()}`);
    return http(`${url}/`, { timeout_ms: 2000 }).then(
      () => true,
      () => false,
    );
  });
  return { url, cpuSeconds: () => cpuSeconds(child.pid), isAlive: () => child.isAlive(), refusals: [503] };
}

/** @throws Error with what the program said when it does not start */
export function startTarget(kit: Kit, contender: Contender, options: TargetOptions): Promise<Target> {
  const addresses = contender.without_last === true ? options.addresses.slice(0, -1) : options.addresses;
  const start = contender.by === "haproxy" ? startHaproxy : startNginx;
  return start(kit, contender, { ...options, addresses });
}
