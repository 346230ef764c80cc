/**
 * Concurrency slots that are exact over the workers of a gateway: how many there are under each limit, who
 * holds them, and under which keys. Leasing is dataplane/leases.ts, repair collector/slot_repair.ts.
 *
 * | key | written by | lives |
 * |---|---|---|
 * | holder:<i>                    | the worker that claims number i (add), again at a flush that finds it gone; removed by the collector | as long as its process |
 * | slots:<upstream>:<node>       | every worker (incr)  | as long as the node is configured: the slots leased, never less than those in use |
 * | held:<upstream>:<node>:<i>    | worker i alone (set) | at most as long as worker i and the node; removed by the collector |
 * | freed:<upstream>              | every worker (incr)  | for ever: moves when a node that was full has room again |
 *
 * `<node>` is a node's identity; empty = the upstream as a whole.
 *
 * The order of the two writes is what makes the counts exact. A worker that leases first says so in its own
 * key, then takes from the common one; one that gives back does it the other way round. So at every instant
 * `held` of a worker is at least what it has taken, wherever it is killed; and what the common key has beyond
 * the sum of the live workers' `held` belongs to nobody.
 */
import type { Store } from "./store";
import { SLOTS_MAX } from "./wire";

/** `held:` values are version × this + slots held: a reader sees that something happened in between. */
export const HELD_SPAN = 4194304;

/** Versions begin again: values stay below 2^53. */
export const VERSIONS = 1073741824;

export function totalKey(upstream: string, node: string): string {
  return `slots:${upstream}:${node}`;
}

export function heldKey(upstream: string, node: string, holder: number): string {
  return `held:${upstream}:${node}:${holder}`;
}

export function freedKey(upstream: string): string {
  return `freed:${upstream}`;
}

function holderKey(holder: number): string {
  return `holder:${holder}`;
}

/** @returns the slots held, of the value of a `held:` key */
export function heldOf(value: string | number | undefined): number {
  return typeof value === "number" ? value % HELD_SPAN : 0;
}

/**
 * Claims a number of its own for a worker; only `add` claims, and only the collector gives a number free, when
 * the process has ended. So no two live workers have the same.
 *
 * @param identity of the process: `pid:start time`
 * @returns 1 .. SLOTS_MAX; 0 when the store is full or so many workers live
 */
export function claimHolder(store: Store, identity: string): number {
  for (let i = 1; i <= SLOTS_MAX; i++) {
    const key = holderKey(i);
    if (store.add(key, identity)) return i;
    if (store.get(key) === undefined) {
      // Given free just now, or there is no room. Going on would end at a number far from the others.
      if (store.add(key, identity)) return i;
      if (store.get(key) === undefined) return 0;
    }
  }
  return 0;
}

/** @returns the identity of the process that has claimed the number */
export function holderOf(store: Store, holder: number): string | undefined {
  const identity = store.get(holderKey(holder));
  return identity === undefined ? undefined : `${identity}`;
}

/** The number may be claimed again; the collector only, when everything under it has been removed. */
export function releaseHolder(store: Store, holder: number): void {
  store.remove(holderKey(holder));
}

/**
 * Sees to it that a live worker's number stays its own: without the key the collector takes the worker for dead. The
 * key is claimed again when the store was emptied, or the collector took the worker for dead. Every flush; one read.
 *
 * @param holder its number; 0 = none yet
 * @param identity of the process, as at the first claim
 * @returns its number from now on: another one when somebody else has got the old one meanwhile; 0 = still none
 */
export function keepHolder(store: Store, holder: number, identity: string): number {
  if (holder === 0) return claimHolder(store, identity);
  const key = holderKey(holder);
  if (holderOf(store, holder) === identity || store.add(key, identity)) return holder;
  // No room for the key: at a later flush.
  if (store.get(key) === undefined) return holder;
  const claimed = claimHolder(store, identity);
  return claimed > 0 ? claimed : holder;
}

/** @returns the most that may be in flight: the limit, and how far it may be exceeded */
export function hardLimit(limit: number, overflow_ratio: number): number {
  // 10 × 1.1 is 11.000000000000002.
  return Math.floor(limit * (1 + overflow_ratio) + 1e-6);
}
