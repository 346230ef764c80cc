import { isUsable, type NodeState } from "./states";

/** Rules over a whole pool: how many nodes may be out, when too few are left, and what two on one host tell. */

/** One pass over the nodes, kept up to date while their states move. */
export interface PoolCounts {
  /** Nodes that nobody took out and that are not pending: those the shares are of. */
  total: number;
  /** In rotation. */
  usable: number;
  /** In rotation, and nothing would throw them out. */
  good: number;
  /** Of `good`, backup nodes. */
  good_backups: number;
}

/** @param sign 1 adds the node, -1 takes it out */
export function count(counts: PoolCounts, state: NodeState, kept: boolean, backup: boolean, sign: 1 | -1): void {
  if (state === "pending" || state === "draining" || state === "offline" || state === "maintenance") return;
  counts.total += sign;
  if (!isUsable(state)) return;
  counts.usable += sign;
  if (kept) return;
  counts.good += sign;
  if (backup) counts.good_backups += sign;
}

/**
 * Whether the pool can spare one more node. At least one stays whatever its health, and no more than
 * `max_ejected_share` may be out (of small pools one, as in Envoy). Primaries with a good backup behind them may all
 * go: serving from the backup is what it is for.
 *
 * @param max_share `max_ejected_share`, 0..1
 */
export function mayEject(counts: PoolCounts, max_share: number, is_backup: boolean): boolean {
  if (max_share <= 0 || counts.usable <= 1) return false;
  if (!is_backup && counts.good_backups > 0) return true;
  const most = Math.max(1, Math.floor(counts.total * max_share));
  return counts.total - counts.usable + 1 <= most;
}

/** Good nodes in a panic that is over: with fewer, those that are back first would have the load of all. */
const PANIC_OVER = 0.5;

/**
 * Whether too few good nodes are left to carry the load: then all are used, good and bad, so that the few do not go down
 * under it (Envoy's panic threshold; the cascade of requirements: each ejection overloads the rest until none is left).
 *
 * @param threshold share of good nodes below which it is so, 0..1; with no good node at all it always is
 * @param was whether it has been so: it goes on until half of the nodes are good
 */
export function isPanic(counts: PoolCounts, threshold: number, was: boolean): boolean {
  if (counts.total === 0) return false;
  return counts.good === 0 || counts.good / counts.total < (was ? Math.max(threshold, PANIC_OVER) : threshold);
}

/** Nodes of one host that are out at the same time, from which on the host itself is to blame. */
export const HOST_SUSPECT_FROM = 2;
