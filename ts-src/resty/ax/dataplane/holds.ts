/**
 * Nodes that this worker alone keeps out after failures that it saw itself, until the collector has ruled.
 * Written by outcomes and flushes of this worker; lost with it.
 */
import { rebuildCandidates } from "./candidates";
import type { Upstream } from "./upstream";

/** Keeps a node out of this worker's picks for a while, ahead of the collector's ruling. */
export function hold(upstream: Upstream, node: number, until_ms: number): void {
  const is_new = upstream.held_until_ms[node] === 0;
  upstream.held_until_ms[node] = until_ms;
  // Its further failures come from requests under way: the candidates are the same.
  if (!is_new) return;
  upstream.held_count++;
  rebuildCandidates(upstream);
}

/** The node answers after all. */
export function release(upstream: Upstream, node: number): void {
  if (upstream.held_until_ms[node] === 0) return;
  upstream.held_until_ms[node] = 0;
  upstream.held_count--;
  rebuildCandidates(upstream);
}

/** Lets go of holds that are over. Flush. */
export function releaseHolds(upstream: Upstream, now_ms: number): void {
  if (upstream.held_count === 0) return;
  let held = 0;
  let changed = false;
  for (let node = 0; node < upstream.pool.n; node++) {
    if (upstream.held_until_ms[node] > 0) {
      if (now_ms >= upstream.held_until_ms[node]) {
        upstream.held_until_ms[node] = 0;
        changed = true;
      } else {
        held++;
      }
    }
  }
  upstream.held_count = held;
  if (changed) rebuildCandidates(upstream);
}
