/**
 * The configuration as the rest of the library sees it: validated, defaults filled in, addresses
 * resolved. Written once by init (master process), read-only in every worker afterwards.
 */

import type { ProbeConfig } from "./probe/config";

/** One upstream node. Its `id` is its identity: state is keyed by it, over edits and reloads. */
export interface NodeConfig {
  /** Name if the user gave one, else the address as "host:port" or "unix:/path". */
  id: string;
  /** IPv4, IPv6 in brackets, or "unix:/path": the form ngx.balancer takes. */
  host: string;
  /** 1..65535; 0 for a unix socket. */
  port: number;
  /** Base weight, 0..65535, relative to the other nodes; 0 = only when nothing else is left. */
  weight: number;
  /** Connection failures in a row that eject the node; 0 = never. */
  max_fails: number;
  /** How long an ejection for connection failures lasts, seconds. */
  fail_timeout_s: number;
  /** Most requests in flight over all workers; 0 = no limit. */
  max_conns: number;
  /** Used only when no primary node is usable. */
  backup: boolean;
  /** Taken out by the operator: never picked. */
  down: boolean;
  /** Where the node stands; "" = not said. See UpstreamConfig.zone. */
  zone: string;
  /** What a request to it costs, relative to the other nodes: for the goal "cost". */
  cost: number;
  labels: Record<string, string>;
}

/** One upstream. Options are named and documented in core/config/options.ts. */
export interface UpstreamConfig {
  name: string;
  strategy: string;
  strategy_module?: string;
  strategy_options: Record<string, unknown>;
  /** Where strategies with a key get it from: core/config/hash_key.ts; absent = the client's address. */
  hash_key?: string | ((this: void) => unknown);
  nodes: NodeConfig[];
  /** Where the nodes came from: "nodes" (configuration), "ngx.upstream", or a file name. */
  nodes_from: string;
  max_tries: number;
  window_short_s: number;
  window_long_s: number;
  min_samples: number;
  score_min: number;
  score_max: number;
  weight_step: number;
  weight_step_interval_ms: number;
  error_penalty_from: number;
  eject_error_rate: number;
  eject_error_rate_for_s: number;
  cool_down_s: number;
  cool_down_max_s: number;
  ramp_s: number;
  ramp_from: number;
  /** Limits and retry budget: core/config/flow_options.ts. */
  /** Absent = DEFAULT_CAPACITY, and no refusal. */
  max_concurrency_per_node?: number;
  /** Absent = limits stay as configured. */
  adaptive_limit?: AdaptiveLimitConfig;
  max_overflow_ratio: number;
  overload_cool_down_s: number;
  /** Absent = the upstream as a whole is not limited. */
  max_concurrency?: number;
  /** Absent = a budget that binds only while next to nothing is answered. */
  retry_ratio?: number;
  retry_min_per_s: number;
  retry_deadline_ms: number;
  return_trial: boolean;
  slow_start_s: number;
  slow_start_share: number;
  max_ejected_share: number;
  panic_threshold: number;
  panic: "spread" | "fail";
  eject_host: boolean;
  /** Where this gateway stands: nodes of the same zone are preferred; absent = all nodes alike. */
  zone?: string;
  /** Where the class of a request comes from; absent = all requests alike. See core/classes.ts. */
  class_source?: string | ((this: void) => unknown);
  /** Class names → what they stand for: vip, normal, batch, or a priority 1..5; absent = vip, normal, batch. */
  classes?: Record<string, string | number>;
  /** Whether a class that the client itself writes may be higher than normal. */
  trust_client_class: boolean;
  /** Clients of whom that holds all the same: addresses and ranges. */
  trusted_clients?: string[];
  /** Keeps connections to nodes from Lua; absent = the block's `keepalive` does, or nothing. */
  lua_keepalive?: LuaKeepaliveConfig;
  /** The admission queue; absent = what finds no room is refused at once. */
  queue?: QueueConfig;
  /** What refused requests are told to wait, seconds. */
  retry_after_s: number;
  /** Active checks; absent = none. */
  probe?: ProbeConfig;
  /** Load reports in answers to requests are read: core/node_report.ts. */
  orca: boolean;
}

/** Documented in core/config/flow_options.ts. */
export interface LuaKeepaliveConfig {
  idle_timeout_s: number;
  max_requests: number;
}

/** Limits found by latency: core/gradient.ts. Documented in core/config/flow_options.ts. */
export interface AdaptiveLimitConfig {
  min: number;
  probe_limit: number;
  probe_interval_s: number;
  tolerance: number;
}

/** Documented in core/config/queue_options.ts. */
export interface DrainConfig {
  /** Share of the queue's size, 0..1; 0 = never by itself. */
  from: number;
  /** Names of classes; absent = all but the highest priority. */
  refuse?: string[];
  /** Class name → weight. */
  class_weights: Record<string, number>;
  max_extra_ratio: number;
}

/** The queue that access() lets requests wait in. Documented in core/config/queue_options.ts. */
export interface QueueConfig {
  /** Most requests waiting, over all workers. */
  size: number;
  timeout_ms: number;
  /** Class name → most requests of its priority waiting. */
  class_sizes: Record<string, number>;
  /** How a backlog is worked off: collector/backlog.ts. */
  drain: DrainConfig;
  /** Request header with the ms that the client will still wait. */
  deadline_header?: string;
}

/** The whole configuration. */
export interface AxConfig {
  shared_dict: string;
  nginx_conf?: string;
  tune_jit: boolean;
  flush_interval_ms: number;
  collector_interval_ms: number;
  /** Absent = no limit. */
  global_qps_limit?: number;
  global_qps_burst?: number;
  upstreams: Record<string, UpstreamConfig>;
}

/**
 * Requests in flight that a node is taken to bear where nobody said: far above what a healthy node of usual size has;
 * reaching it means the node is stuck.
 */
export const DEFAULT_CAPACITY = 500;
