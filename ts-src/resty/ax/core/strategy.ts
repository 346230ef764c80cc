import type { FieldSchema } from "./config/schema";
import type { Pool } from "./pool";
import type { Random } from "./random";

/** What a strategy may know of the request it picks for. */
export interface PickRequest {
  /** Monotonic ms. */
  now_ms: number;
  /** Earlier tries of this request. */
  tries: number;
  /** Hash of the request's key, 0 .. 2^32-1, the same over its retries; set for strategies with `uses_key`. */
  key: number;
}

/** How a key is made of the client's address. */
export interface AddressKey {
  /** Leading bits that count: clients that share them share their node. */
  ipv4_prefix_bits: number;
  ipv6_prefix_bits: number;
  /** The client's port counts too. */
  port: boolean;
}

/**
 * A strategy is one file that exports one of these, and one line in strategies/registry.ts. Its functions are three:
 * `create` once, `prepare` per flush, `pick` per request. What takes time is `prepare`'s; it is told of nothing else
 * (no "started", no "finished": the pool has the counts).
 *
 * The caller's part: health, tiers (backup), nodes already tried by the request, and exhaustion.
 * A strategy gets only candidates that may be used now and returns one of them. It never sees an
 * empty list. It measures nothing: latencies, counts and weights are in the pool.
 *
 * `pick` runs for every request: no closures, no tables, no strings, no calls out of core/.
 */
export interface Strategy<S = unknown> {
  name: string;
  /** Options this strategy takes under `strategy_options`. */
  options: Record<string, FieldSchema>;
  /** `pick` reads `request.key`: by default the hash of what the upstream's `hash_key` names. */
  uses_key?: boolean;
  /**
   * With `uses_key`: the key is made of the client's address, and `hash_key` is mixed in. How, is in the options
   * of the names in `AddressKey`, which the strategy must have.
   */
  by_address?: boolean;
  /**
   * State of one strategy for one upstream in one worker. Quick: what takes time is `prepare`'s.
   * @param pool the worker's view; `n`, `ids` never change
   * @param options validated against `options`, defaults filled in
   * @param random this worker's generator: seeds differ between workers, so that workers differ
   */
  create(this: void, pool: Pool, options: Record<string, unknown>, random: Random): S;
  /**
   * Brings what is derived from the pool up to date, a slice at a time. Runs until it is done before the first pick (at
   * the worker's start, where nothing waits), and at every flush, with pauses between the slices. Picks come between
   * slices, and between a change of the pool and the next flush: they must find the old tables or the new, whole,
   * and return nothing that `pool.candidate_of` no longer has. Timer phase; init_worker.
   * @param now_ms monotonic ms
   * @returns whether there is more to do; a slice may take a millisecond
   */
  prepare?(this: void, state: S, pool: Pool, now_ms: number): boolean;
  /**
   * Picks a node. Balancer phase.
   * @param candidates node numbers; the first `count` entries are valid; not to be written to
   * @returns one of the candidates
   */
  pick(this: void, state: S, pool: Pool, candidates: number[], count: number, request: PickRequest): number;
}
