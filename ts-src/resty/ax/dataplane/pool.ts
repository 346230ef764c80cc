import { inverseOf } from "../core/cost";
import { fraction } from "../core/fraction";
import { DEFAULT_CAPACITY, type NodeConfig, type UpstreamConfig } from "../core/model";
import type { Pool } from "../core/pool";

/** What a node without any data is taken to answer in, ms, when no other node has data either. */
export const COLD_LATENCY_MS = 5;

/** A node before anything is known of it. Counts are whole numbers, all else has fractions (core/fraction.ts). */
function setNode(pool: Pool, node: number, config: UpstreamConfig): void {
  const given: NodeConfig = config.nodes[node];
  pool.ids[node] = given.id;
  pool.weight[node] = fraction(given.weight);
  pool.inverse_prior[node] = inverseOf(given.weight);
  pool.static_weight[node] = fraction(given.weight);
  pool.in_flight[node] = 0;
  pool.long_in_flight[node] = 0;
  pool.answered_start_ms[node] = fraction(0);
  pool.others_in_flight[node] = fraction(0);
  pool.oldest_start_ms[node] = fraction(0);
  pool.latency_ms[node] = fraction(COLD_LATENCY_MS);
  pool.peak_latency_ms[node] = fraction(COLD_LATENCY_MS);
  pool.p99_ms[node] = fraction(-1);
  pool.samples[node] = 0;
  pool.success[node] = fraction(1);
  pool.last_pick_ms[node] = fraction(0);
  pool.last_sample_ms[node] = fraction(0);
  pool.max_conns[node] = given.max_conns;
  pool.capacity[node] = given.max_conns > 0 ? given.max_conns : (config.max_concurrency_per_node ?? DEFAULT_CAPACITY);
  pool.price[node] = fraction(given.cost);
  pool.candidate_of[node] = -1;
}

/** One worker's view of an upstream before its first snapshot: base weights, no load, nothing measured. */
export function newPool(config: UpstreamConfig): Pool {
  const n = config.nodes.length;
  const pool: Pool = {
    name: config.name,
    n,
    ids: [],
    weight: [],
    inverse_prior: [],
    static_weight: [],
    in_flight: [],
    long_in_flight: [],
    answered_start_ms: [],
    others_in_flight: [],
    oldest_start_ms: [],
    latency_ms: [],
    peak_latency_ms: [],
    p99_ms: [],
    samples: [],
    success: [],
    last_pick_ms: [],
    last_sample_ms: [],
    max_conns: [],
    capacity: [],
    reports: {},
    price: [],
    resting_cost: [],
    silent_since_ms: [],
    silence_per_ms: [],
    load_rank: [],
    highest_prior: 1,
    candidates: [],
    candidate_count: 0,
    candidate_of: [],
    version: 0,
  };
  for (let node = 0; node < n; node++) setNode(pool, node, config);
  return pool;
}

/** nginx measures in whole milliseconds: below half of one, nothing is known but "fast". */
export function floorLatency(latency_ms: number): number {
  const floored = Math.max(latency_ms, 0.5);
  return floored;
}

/** Never 0: a node that always fails must stay comparable, and be able to recover. */
export function floorSuccess(success: number): number {
  const floored = Math.max(success, 0.05);
  return floored;
}
