/**
 * Which nodes picks may go to: the candidates of this worker's pool, out of the states that the collector
 * ruled, the holds of this worker and the operator's will. Written at flushes and when a node is held or let go.
 */
import { noteHighestPrior, weighAll } from "../core/cost";
import { measureLoads } from "../core/classes";
import { isUsable as isUsableState, STATES } from "../core/health/states";
import type { Pool } from "../core/pool";
import { splitByZone, updateShare } from "./placement";
import type { Upstream } from "./upstream";

/** In the snapshot's rotation, and not held out by this worker. */
export function isUsable(upstream: Upstream, node: number): boolean {
  return isUsableState(upstream.state[node]) && upstream.held_until_ms[node] === 0;
}

/** The operator took it out, in the configuration or at run time: not even panic uses it. */
export function isTaken(upstream: Upstream, node: number): boolean {
  return STATES[upstream.state[node]].by_operator;
}

/** Every node was taken out at run time: those that the configuration does not take out serve on. */
function collectAny(upstream: Upstream): number {
  const pool = upstream.pool;
  let count = 0;
  for (let node = 0; node < pool.n; node++) {
    if (!upstream.config.nodes[node].down) {
      pool.candidates[count] = node;
      count++;
    }
  }
  return count;
}

function collect(upstream: Upstream, backup: boolean, any_state: boolean): number {
  const pool = upstream.pool;
  let count = 0;
  for (let node = 0; node < pool.n; node++) {
    const given = upstream.config.nodes[node];
    if (given.backup === backup && (any_state ? !isTaken(upstream, node) : isUsable(upstream, node))) {
      pool.candidates[count] = node;
      count++;
    }
  }
  return count;
}

/**
 * Decides the tier in use: usable primaries, else usable backups, else every node that the operator did not take out,
 * since a try at a bad node beats an error. The latter also in panic, when the collector finds too few nodes good.
 */
export function rebuildCandidates(upstream: Upstream): void {
  const pool = upstream.pool;
  const spreads = upstream.ruled_panic && upstream.config.panic !== "fail";
  let count = spreads ? 0 : collect(upstream, false, false);
  if (count === 0 && !spreads) count = collect(upstream, true, false);
  upstream.panic = count === 0;
  if (count === 0) count = collect(upstream, false, true);
  if (count === 0) count = collect(upstream, true, true);
  if (count === 0) count = collectAny(upstream);
  pool.candidate_count = count;
  pool.version++;
  noteHighestPrior(pool);
  weighAll(pool);
  const placement = upstream.placement;
  if (placement !== undefined) {
    splitByZone(placement, pool);
    markCandidates(placement.others);
  }
  markCandidates(pool);
  refreshPlacement(upstream);
}

function markCandidates(pool: Pool): void {
  const { candidates, candidate_of, version } = pool;
  for (let k = 0; k < pool.candidate_count; k++) candidate_of[candidates[k]] = version;
}

/** Brings up to date what zones and classes are decided by. Flush, and when candidates change. */
export function refreshPlacement(upstream: Upstream): void {
  const placement = upstream.placement;
  if (placement === undefined) return;
  updateShare(placement, upstream.pool, upstream.config.nodes);
  if (placement.source === undefined) return;
  measureLoads(placement.loads, upstream.pool);
  measureLoads(placement.others_loads, placement.others);
}

/** Whether requests are to be refused: too few nodes are good, and the configuration says so. Access phase. */
export function failsClosed(upstream: Upstream): boolean {
  return upstream.ruled_panic && upstream.config.panic === "fail";
}
