/**
 * Strategies' own tables, brought up to date outside of picks: whole at the worker's start, where nothing
 * waits, and in slices at every flush.
 */
import type { Pool } from "../core/pool";
import type { FaultReporter } from "./pick";
import type { Upstream } from "./upstream";
import { errorText } from "./error_text";

/** More slices than any table takes: a module of the user's that never says "done" must not hold the worker. */
const SLICES_MAX = 100000;

/** Nodes looked at between two pauses: about a millisecond's work. */
const NODES_PER_PAUSE = 10000;

/** One slice for one of the upstream's views. @returns whether there is more to do */
function prepareView(upstream: Upstream, state: never, pool: Pool, now_ms: number, report?: FaultReporter): boolean {
  const strategy = upstream.strategy;
  if (strategy.prepare === undefined) return false;
  if (!upstream.strategy_is_custom) return strategy.prepare(state, pool, now_ms);
  if (report === undefined) return (strategy.prepare(state, pool, now_ms) as unknown) === true;
  const [ok, answer] = pcall(strategy.prepare, state, pool, now_ms);
  // A module of the user's may return anything.
  if (ok) return (answer as unknown) === true;
  report(
    "strategy",
    `strategy_module "${upstream.config.strategy_module}" of upstream "${upstream.config.name}": prepare: ${errorText(answer)}`,
  );
  return false;
}

/** One slice for each of the upstream's views. */
function prepareSlice(upstream: Upstream, now_ms: number, report?: FaultReporter): boolean {
  const more = prepareView(upstream, upstream.strategy_state, upstream.pool, now_ms, report);
  const placement = upstream.placement;
  if (placement === undefined || placement.others_state === undefined) return more;
  return prepareView(upstream, placement.others_state, placement.others, now_ms, report) || more;
}

/**
 * Prepares an upstream whole, without a pause. init_worker phase.
 * @throws what the user's module throws: then it has no tables to pick by
 */
export function prepareWhole(upstream: Upstream, now_ms: number): void {
  for (let k = 0; k < SLICES_MAX; k++) if (!prepareSlice(upstream, now_ms)) return;
  error(`prepare: not done after ${SLICES_MAX} slices`, 0);
}

/**
 * Prepares all upstreams. Timer phase.
 * @param pause lets the worker serve what waits; absent where there is nothing to wait for
 */
export function prepareAll(upstreams: Upstream[], now_ms: number, report: FaultReporter, pause?: () => void): void {
  let nodes = 0;
  for (const upstream of upstreams) {
    let more = true;
    for (let k = 0; more && k < SLICES_MAX; k++) {
      more = prepareSlice(upstream, now_ms, report);
      nodes += upstream.pool.n;
      if (pause !== undefined && (more || nodes >= NODES_PER_PAUSE)) {
        nodes = 0;
        pause();
      }
    }
  }
}
