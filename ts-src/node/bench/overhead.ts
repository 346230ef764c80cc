/**
 * What the library costs a gateway: CPU per request and throughput with idle backends, against nginx's
 * own round robin and against the least that any balancer_by_lua costs. All in one run, in turn,
 * several times; medians, and ratios to nginx's own.
 */
import { type Backend, type Gateway, type GatewayOptions, type Kit, runWrk } from "../testkit";

export interface OverheadOptions {
  repeats: number;
  seconds: number;
  connections: number;
  onProgress?: (text: string) => void;
}

export interface OverheadRow {
  variant: string;
  rps: number;
  /** CPU of the gateway's processes, µs a request. */
  cpu_us: number;
  errors: number;
  /** Ratios to nginx's own round robin in the same repetition; medians. */
  rps_ratio: number;
  cpu_ratio: number;
}

interface Sample {
  rps: number;
  cpu_us: number;
  errors: number;
}

const NATIVE = "nginx round robin";

/** A balancer that does nothing but choose in turn: what any Lua in this phase costs. */
function trivial(backends: Backend[]): string {
  const ports = backends.map((backend) => backend.port).join(", ");
  return `balancer_by_lua_block {
            local s = package.loaded.trivial_state
            if not s then
              s = { n = 0, ports = { ${ports} }, set = require("ngx.balancer").set_current_peer }
              package.loaded.trivial_state = s
            end
            s.n = s.n % #s.ports + 1
            s.set("127.0.0.1", s.ports[s.n])
        }`;
}

function variants(backends: Backend[]): Record<string, Partial<GatewayOptions>> {
  const ours = (strategy: string): Partial<GatewayOptions> => ({ ax: { upstreams: { backend: { strategy } } } });
  return {
    [NATIVE]: { balancer: "none" },
    "trivial balancer_by_lua": { balancer: trivial(backends) },
    "ax round_robin": ours("round_robin"),
    "ax random": ours("random"),
    "ax least_conn": ours("least_conn"),
    "ax adaptive": ours("adaptive"),
  };
}

async function measure(gateway: Gateway, options: OverheadOptions): Promise<Sample> {
  const load = { url: `${gateway.url}/`, connections: options.connections };
  await runWrk({ ...load, duration_s: 1 });
  const before_s = gateway.cpuSeconds();
  const result = await runWrk({ ...load, duration_s: options.seconds });
  const errors = Object.values(result.errors).reduce((sum, count) => sum + count, 0);
  return { rps: result.rps, cpu_us: ((gateway.cpuSeconds() - before_s) / result.requests) * 1e6, errors };
}

function median(values: number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor((sorted.length - 1) / 2)] ?? 0;
}

/** Runs the comparison with six idle backends and one gateway worker. */
export async function runOverhead(kit: Kit, options: OverheadOptions): Promise<OverheadRow[]> {
  const backends = await kit.backends(6);
  const gateways: [string, Gateway][] = [];
  for (const [name, given] of Object.entries(variants(backends))) {
    gateways.push([name, await kit.gateway({ workers: 1, servers: backends, log_level: "warn", ...given })]);
  }
  const samples = new Map<string, Sample[]>(gateways.map(([name]) => [name, []]));
  for (let repeat = 1; repeat <= options.repeats; repeat++) {
    for (const [name, gateway] of gateways) {
      options.onProgress?.(`repetition ${repeat} of ${options.repeats}: ${name}`);
      samples.get(name)!.push(await measure(gateway, options));
    }
  }
  const native = samples.get(NATIVE)!;
  return [...samples].map(([variant, own]) => ({
    variant,
    rps: median(own.map((sample) => sample.rps)),
    cpu_us: median(own.map((sample) => sample.cpu_us)),
    errors: own.reduce((sum, sample) => sum + sample.errors, 0),
    rps_ratio: median(own.map((sample, k) => sample.rps / native[k].rps)),
    cpu_ratio: median(own.map((sample, k) => sample.cpu_us / native[k].cpu_us)),
  }));
}
