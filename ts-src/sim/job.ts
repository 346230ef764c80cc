/**
 * What the simulator is told and what it answers: JSON on standard input and output. Scenario files
 * are checked and turned into a Job on the Node.js side (ts-src/node/sim/scenario.ts).
 */

/** Who decides where a request goes: a strategy behind real gateways, or one of the bounds. */
export type Bound = "shared_queue" | "random_split" | "oracle";

/** How long a request is worked on at a node of speed 1. */
export interface Service {
  distribution: "fixed" | "exponential" | "lognormal" | "bimodal";
  mean_ms: number;
  /** lognormal: standard deviation ÷ mean. */
  cv: number;
  /** bimodal: two exponentials; this share of the requests takes `heavy_factor` times as long as the others. */
  heavy_share: number;
  heavy_factor: number;
}

/**
 * up: serves. down: refuses connections, and breaks those it has. hang: accepts and never answers.
 * black_hole: answers 500 at once.
 */
export type NodeMode = "up" | "down" | "hang" | "black_hole";

/** Something that happens to a node from a time on, once or again and again. */
export interface NodeEvent {
  from_s: number;
  /** 0 = to the end. */
  for_s: number;
  /** 0 = once. */
  every_s: number;
  /** Multiplies the node's speed; 0 = a pause. */
  speed: number;
  mode: NodeMode;
  /** Share of requests that fail at once, 0..1. */
  error_share: number;
}

export interface NodeSpec {
  id: string;
  slots: number;
  speed: number;
  weight: number;
  max_conns: number;
  /** In the configuration from then on; 0 = from the start. */
  joins_at_s: number;
  events: NodeEvent[];
}

/** From `at_s` on the load is `factor` times the base load. */
export interface LoadStep {
  at_s: number;
  factor: number;
}

export interface Job {
  name: string;
  seed: number;
  /** A built-in strategy; not read when a bound is asked for. */
  strategy: string;
  strategy_options: Record<string, unknown>;
  bound?: Bound;
  duration_s: number;
  warmup_s: number;
  gateways: number;
  workers: number;
  /** Load ÷ capacity; read when rate_per_s is 0. */
  rho: number;
  rate_per_s: number;
  steps: LoadStep[];
  service: Service;
  network_ms: number;
  timeout_ms: number;
  /** How long a failed answer takes at the node, ms. */
  error_ms: number;
  retry: { error: boolean; timeout: boolean; http_500: boolean };
  nodes: NodeSpec[];
  /** Options of the upstream, as in the library's configuration. */
  upstream: Record<string, unknown>;
}

/** One value a second, from the start; a node's values under its number. */
export interface Series {
  p50_ms: number[];
  p99_ms: number[];
  errors: number[];
  requests: number[];
  /** Tries by node. */
  tries: number[][];
  /** Weights in one worker by node; empty for bounds. */
  weights: number[][];
}

/** Figures are of requests that began after the warm-up. */
export interface Result {
  name: string;
  seed: number;
  strategy: string;
  /** Requests that began and ended in the whole run: always equal. */
  begun: number;
  ended: number;
  requests: number;
  rate_per_s: number;
  capacity_per_s: number;
  /** Latencies are of answered requests, from the gateway's arrival to its answer, retries included. */
  p50_ms: number;
  p99_ms: number;
  p999_ms: number;
  mean_ms: number;
  /** Mean time beyond work at full speed and network. */
  mean_wait_ms: number;
  error_share: number;
  goodput_per_s: number;
  tries_per_request: number;
  /** Most tries a node got ÷ the mean over the nodes. */
  peak_to_mean: number;
  /** Share of all tries by node. */
  shares: number[];
  /** What the collector, the exchange or a pick complained of. */
  faults: string[];
  series: Series;
}
