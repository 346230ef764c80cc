/** Starts a contender's gateway from the files in nginx/bench. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { cpuSeconds, freePort, type GatewayOptions, http, type Kit, waitFor } from "../testkit";
import { startChild } from "../testkit/child";
import { newDir, readIfThere, render, ROOT } from "../testkit/workdir";
import { type Contender, fairModule } from "./contenders";

export const BENCH_DIR = join(ROOT, "nginx", "bench");

/** A running gateway of whatever make. */
export interface Target {
  url: string;
  /** Of all its processes so far. */
  cpuSeconds(): number;
}

export interface TargetOptions {
  /** Addresses of the nodes, "127.0.0.1:8080". */
  addresses: string[];
  workers: number;
  /** Of ours: more entries of the upstream's configuration, Lua text such as `hash_key = "arg:key"`. */
  options?: string;
}

const HAPROXY_MEMORY_MB = 4000;

/** Idle connections to the nodes that a worker keeps, unless the pool is so large that it needs more. */
const KEEPALIVE_MIN = 256;

const read = (...path: string[]): string => readFileSync(join(BENCH_DIR, ...path), "utf8");

function luaPeers(addresses: string[]): string {
  return addresses.map((address) => `{ "${address.split(":")[0]}", ${address.split(":")[1]} }`).join(", ");
}

/** What the test kit needs to know for a contender of nginx's or ours. */
export function nginxOptions(contender: Contender, options: TargetOptions): GatewayOptions {
  const { addresses, workers } = options;
  const http_text = readIfThere(join(BENCH_DIR, "contenders", `${contender.config}.http.conf`));
  return {
    name: `${contender.by}-${contender.name}`,
    template: join(BENCH_DIR, "gateway.conf"),
    balancer: "none",
    servers: addresses,
    workers,
    keepalive: Math.max(KEEPALIVE_MIN, 2 * addresses.length),
    words: {
      load_contender: contender.config === "fair" ? `load_module ${fairModule() ?? ""};` : "",
      contender: read("contenders", `${contender.config}.conf`),
      contender_http: render(http_text, {
        bench_dir: BENCH_DIR,
        peers: luaPeers(addresses),
        lua_out: join(ROOT, "lua-out"),
        strategy: contender.strategy ?? "",
        options: options.options === undefined ? "" : `, ${options.options}`,
      }),
    },
  };
}

const startNginx = (kit: Kit, contender: Contender, options: TargetOptions): Promise<Target> =>
  kit.gateway(nginxOptions(contender, options));

async function startHaproxy(kit: Kit, contender: Contender, options: TargetOptions): Promise<Target> {
  const dir = newDir(`haproxy-${contender.name}`, kit.dir);
  const port = await freePort();
  const servers = options.addresses.map((address, k) => `    server n${k + 1} ${address}`).join("\n");
  const words = { port, workers: options.workers, balance: contender.config, servers };
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
  return { url, cpuSeconds: () => cpuSeconds(child.pid) };
}

/** @throws Error with what the program said when it does not start */
export function startTarget(kit: Kit, contender: Contender, options: TargetOptions): Promise<Target> {
  const addresses = contender.without_last === true ? options.addresses.slice(0, -1) : options.addresses;
  const start = contender.by === "haproxy" ? startHaproxy : startNginx;
  return start(kit, contender, { ...options, addresses });
}
