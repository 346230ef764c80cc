import type { FieldSchema } from "./config/schema";
import type { Pool } from "./pool";
import type { Random } from "./random";

/** What a strategy may know of the request it picks for. */
export interface PickRequest {
  /** Monotonic ms. */
  now_ms: number;
  /** Earlier tries of this request. */
  tries: number;
}

/**
 * A strategy is one file that exports one of these, and one line in strategies/registry.ts.
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
  /**
   * State of one strategy for one upstream in one worker.
   * @param pool the worker's view; `n`, `ids` never change
   * @param options validated against `options`, defaults filled in
   * @param random this worker's generator: seeds differ between workers, so that workers differ
   */
  create(this: void, pool: Pool, options: Record<string, unknown>, random: Random): S;
  /**
   * Picks a node. Balancer phase.
   * @param candidates node numbers; the first `count` entries are valid; not to be written to
   * @returns one of the candidates
   */
  pick(this: void, state: S, pool: Pool, candidates: number[], count: number, request: PickRequest): number;
}
