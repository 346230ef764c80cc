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
  max_concurrency_per_node: number;
  /** Where this gateway stands: nodes of the same zone are preferred; absent = all nodes alike. */
  zone?: string;
  /** Where the class of a request comes from; absent = all requests alike. See core/classes.ts. */
  class_source?: string;
  /** Class names → what they stand for; absent = vip, normal, batch. */
  classes?: Record<string, string>;
  /** Active checks; absent = none. */
  probe?: ProbeConfig;
}

/** The whole configuration. */
export interface AxConfig {
  shared_dict: string;
  nginx_conf?: string;
  flush_interval_ms: number;
  collector_interval_ms: number;
  upstreams: Record<string, UpstreamConfig>;
}
