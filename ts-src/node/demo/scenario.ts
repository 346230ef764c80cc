/** What the demo compares, and with what. */
import { join } from "node:path";
import type { Backend, BackendOptions, Delay, GatewayOptions, LoadResult } from "../testkit";
import { ROOT } from "../testkit/workdir";

/**
 * The reference case: six nodes whose answers take an exponentially distributed time with a P99 of
 * 10 ms (mean 2.2 ms), except for one whose P99 is 80 ms (mean 17.4 ms).
 */
export const NODES = 6;
export const NORMAL = { dist: "exp", p99_ms: 10 } satisfies Delay;
export const SLOW = { dist: "exp", p99_ms: 80 } satisfies Delay;

export const WORKERS = 2;

/**
 * Requests kept under way by the load generator. Few enough that two cores, which run the nodes and
 * the load generator too, are not the limit: then the strategies are compared, not the machine.
 */
export const CONNECTIONS = 24;

/** Time for connections to open, code to be compiled and the strategies to learn, before measuring. */
export const WARM_UP_S = 3;

export interface Contender {
  name: string;
  /** Who picks, and how, for the table. */
  by: string;
  /** Text for nginx's own upstream block; undefined = the library picks. */
  native?: string;
  strategy?: string;
}

export const CONTENDERS: Contender[] = [
  { name: "round robin", by: "nginx", native: "none" },
  { name: "least_conn", by: "nginx", native: "least_conn;" },
  { name: "round_robin", by: "ax", strategy: "round_robin" },
  { name: "least_conn", by: "ax", strategy: "least_conn" },
  { name: "adaptive", by: "ax", strategy: "adaptive" },
];

/** The nodes: the last one is the slow one. */
export function nodeOptions(number: number): BackendOptions {
  const slow = number === NODES;
  return { name: slow ? "slow" : `node${number}`, seed: number, settings: { delay: slow ? SLOW : NORMAL } };
}

/** The gateway for a contender, from the files in nginx/demo. */
export function gatewayOptions(contender: Contender, backends: Backend[]): GatewayOptions {
  const native = contender.native !== undefined;
  return {
    name: `${contender.by}-${contender.name}`,
    template: join(ROOT, "nginx", "demo", native ? "native.conf" : "ax.conf"),
    servers: backends,
    workers: WORKERS,
    balancer: contender.native ?? "none",
    words: { strategy: contender.strategy ?? "", error_log: "error.log", api_clients: "127.0.0.1" },
    ready_path: "/",
  };
}

/** Cores kept busy on average. */
export interface Cpu {
  /** By gateway, nodes and load generator. */
  demo_cores: number;
  /** By all processes of the machine. */
  all_cores: number;
}

export interface Figures {
  strategy: string;
  by: string;
  qps: number;
  p50_ms: number;
  p99_ms: number;
  p999_ms: number;
  /** Answers with a status of 400 or more, and requests without an answer. */
  errors: number;
  /** Of all requests that reached the nodes, 0..1. */
  slow_node_share: number;
  cpu: Cpu;
}

export function figures(contender: Contender, load: LoadResult, per_node: number[], cpu: Cpu): Figures {
  const { status, connect, read, write, timeout } = load.errors;
  const total = per_node.reduce((sum, requests) => sum + requests, 0);
  return {
    strategy: contender.name,
    by: contender.by,
    qps: load.rps,
    p50_ms: load.p50_ms,
    p99_ms: load.p99_ms,
    p999_ms: load.p999_ms,
    errors: status + connect + read + write + timeout,
    slow_node_share: (per_node.at(-1) ?? 0) / total,
    cpu,
  };
}
