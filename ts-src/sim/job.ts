/**
 * What the simulator is told and what it answers: JSON on standard input and output. Scenario files
 * are checked and turned into a Job on the Node.js side (ts-src/node/sim/scenario.ts).
 */

/** Who decides where a request goes: a strategy behind real gateways, or one of the bounds. */
export type Bound = "shared_queue" | "random_split" | "oracle";

/** How long a request is worked on at a node of speed 1. */
export interface Service {
  distribution: "fixed" | "exponential" | "lognormal" | "bimodal" | "pareto";
  mean_ms: number;
  /** lognormal: standard deviation ÷ mean. */
  cv: number;
  /** bimodal: two exponentials; this share of the requests takes `heavy_factor` times as long as the others. */
  heavy_share: number;
  heavy_factor: number;
  /** pareto: exponent, and the longest work ÷ the shortest. */
  alpha: number;
  spread: number;
  /** Above 0: nodes end work by a timer with steps of so many ms, as nginx does. */
  timer_ms: number;
}

/** The keys of requests, and where they come from. */
export interface Keys {
  kind: "zipf" | "uniform";
  count: number;
  /** zipf: the k-th key comes 1 ÷ k^exponent times as often as the first. */
  exponent: number;
  /** Share of the requests that have one more key, the hot one. */
  hot_share: number;
  /** Share of the keys whose requests come from one address, behind a carrier's NAT. */
  nat_share: number;
  /** All others get another address so often; 0 = never. */
  roam_every_s: number;
}

/** What nodes remember of keys: a hit takes the work of `service`, a miss `miss_factor` times as much. */
export interface CacheSpec {
  /** Keys that fit into a node's cache; the one not used for longest goes. */
  entries: number;
  miss_factor: number;
}

/** A class of requests, by the name that the request carries. */
export interface RequestClass {
  name: string;
  share: number;
  /** Multiplies the work. */
  work: number;
}

/** Requests whose answer goes on long after its first byte. */
export interface Streams {
  share: number;
  mean_s: number;
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
  /** Share of requests that fail, 0..1: at once, taking no slot, or after their work. */
  error_share: number;
  errors_work: boolean;
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
  /** Above 0: so many clients instead of arrivals at a rate, each with one request at a time. */
  clients: number;
  /** Between a client's answer and its next request, ms. */
  think_ms: number;
  service: Service;
  network_ms: number;
  timeout_ms: number;
  /** How long a failed answer takes at the node, ms. */
  error_ms: number;
  retry: { error: boolean; timeout: boolean; http_500: boolean };
  nodes: NodeSpec[];
  keys?: Keys;
  cache?: CacheSpec;
  classes: RequestClass[];
  streams: Streams;
  /** Length of a step of the series, ms. */
  step_ms: number;
  /** Requests go through access() before the balancer. */
  access: boolean;
  /** Options of the upstream, as in the library's configuration; and of init(), beside `upstreams`. */
  upstream: Record<string, unknown>;
  init: Record<string, unknown>;
}

/** One value a step, from the start; a node's values under its number. */
export interface Series {
  step_ms: number;
  p50_ms: number[];
  p99_ms: number[];
  errors: number[];
  requests: number[];
  /** Tries by node. */
  tries: number[][];
  /** Weights in one worker by node; empty for bounds. */
  weights: number[][];
}

/** What the requests of one class met with. */
export interface ClassResult {
  name: string;
  requests: number;
  p50_ms: number;
  p99_ms: number;
  /** Refused ones are not among the errors. */
  error_share: number;
  refused_share: number;
}

/** Requests that were refused for one reason, and how long after their arrival. */
export interface RefusedResult {
  reason: string;
  share: number;
  p50_ms: number;
  p99_ms: number;
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
  /** Of all requests: ended with an error; were refused for want of room. */
  error_share: number;
  refused_share: number;
  /** By reason, in alphabetical order; empty = nothing was refused. */
  refused: RefusedResult[];
  goodput_per_s: number;
  tries_per_request: number;
  /** Most tries a node got ÷ the mean over the nodes. */
  peak_to_mean: number;
  /** Share of all tries by node. */
  shares: number[];
  /** Share of the answered requests that found their key in the node's cache; -1 without caches. */
  hit_share: number;
  /** Nodes that got at least 1 % of the hot key's tries; -1 without a hot key. */
  hot_key_nodes: number;
  classes: ClassResult[];
  /** What the collector, the exchange or a pick complained of. */
  faults: string[];
  series: Series;
}
