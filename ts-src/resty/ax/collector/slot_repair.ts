/**
 * Gives back the slots of workers that died, and puts counts right that somebody else has changed. What is
 * exact about concurrency limits does not depend on it (core/slots.ts): it only ends leaks.
 *
 * The common count of a limit should be the sum of what the live workers hold. Both are read so that they are
 * of one instant: the workers' values (which carry a version) before and after the count, and only when none
 * has moved. A worker says what it will hold before it takes it, so what the count has beyond the sum is
 * nobody's. A difference is put right when it is seen twice in a row, by its smaller value.
 */
import { freedKey, heldKey, heldOf, holderOf, releaseHolder, totalKey } from "../core/slots";
import type { Store } from "../core/store";
import { SLOTS_MAX } from "../core/wire";

/** Limits looked at per tick when no worker has died: a few hundred microseconds. */
const PER_TICK = 200;

/** Ticks for which all limits are looked at after a death, or when the store was emptied: one sees the difference, one confirms it. */
const TICKS_AFTER_DEATH = 4;

export interface SlotRepair {
  store: Store;
  /** Whether the process that `claimHolder` was given still runs. */
  holderAlive(this: void, identity: string): boolean;
  upstreams: string[];
  /** Names of the limits of each upstream: "" for itself, and its nodes' identities. */
  names: string[][];
  /** Difference seen last, by common key. */
  suspected: Record<string, number | undefined>;
  /** Numbers of the live workers. */
  holders: number[];
  /** Next limit to look at, counted over all upstreams. */
  cursor: number;
  total: number;
  urgent_ticks: number;
  /** Slots given back so far. */
  returned_total: number;
}

export function newSlotRepair(store: Store, holderAlive: (this: void, identity: string) => boolean): SlotRepair {
  return {
    store,
    holderAlive,
    upstreams: [],
    names: [],
    suspected: {},
    holders: [],
    cursor: 0,
    total: 0,
    // The worker that has just died may be the last collector.
    urgent_ticks: TICKS_AFTER_DEATH,
    returned_total: 0,
  };
}

/**
 * @param ids of its nodes
 * @param gone of nodes that have left the configuration: workers that are shutting down may still have requests there
 */
export function addUpstream(repair: SlotRepair, name: string, ids: string[], gone: string[]): void {
  const names: string[] = [""];
  for (let k = 0; k < ids.length; k++) names.push(ids[k]);
  for (let k = 0; k < gone.length; k++) names.push(gone[k]);
  repair.upstreams.push(name);
  repair.names.push(names);
  repair.total += names.length;
}

/** A dead worker's own keys go first, its number last: whoever gets the number must not find them. */
function forget(repair: SlotRepair, holder: number): void {
  for (let u = 0; u < repair.upstreams.length; u++) {
    const names = repair.names[u];
    for (let k = 0; k < names.length; k++) repair.store.remove(heldKey(repair.upstreams[u], names[k], holder));
  }
  releaseHolder(repair.store, holder);
  repair.urgent_ticks = TICKS_AFTER_DEATH;
}

/** Looks which workers live. All numbers: any gap among them may be larger, after a reload of many workers. */
function readHolders(repair: SlotRepair): void {
  const holders: number[] = [];
  for (let i = 1; i <= SLOTS_MAX; i++) {
    const identity = holderOf(repair.store, i);
    if (identity !== undefined) {
      if (repair.holderAlive(identity)) holders.push(i);
      else forget(repair, i);
    }
  }
  repair.holders = holders;
}

/** Written by the collector; absent = somebody has emptied the store: every count is wrong then. */
const MARK_KEY = "slots:counted";

function noticeEmptied(repair: SlotRepair): void {
  if (repair.store.get(MARK_KEY) === undefined && repair.store.set(MARK_KEY, 1))
    repair.urgent_ticks = TICKS_AFTER_DEATH;
}

/** @returns count − sum, of one instant; undefined when something moved meanwhile */
function difference(repair: SlotRepair, upstream: string, name: string): number | undefined {
  const store = repair.store;
  const holders = repair.holders;
  const before: (string | number)[] = [];
  let sum = 0;
  for (let k = 0; k < holders.length; k++) {
    const value = store.get(heldKey(upstream, name, holders[k])) ?? "";
    before[k] = value;
    sum += heldOf(value);
  }
  const total = store.get(totalKey(upstream, name));
  for (let k = 0; k < holders.length; k++) {
    if ((store.get(heldKey(upstream, name, holders[k])) ?? "") !== before[k]) return undefined;
  }
  return (typeof total === "number" ? total : 0) - sum;
}

function repairOne(repair: SlotRepair, upstream: string, name: string): void {
  const key = totalKey(upstream, name);
  const total = repair.store.get(key);
  if (total === undefined) return;
  const found = difference(repair, upstream, name);
  if (found === undefined) return;
  const before = repair.suspected[key] ?? 0;
  repair.suspected[key] = found === 0 ? undefined : found;
  // Seen before, with the same sign: the smaller of the two is certain.
  const certain = before * found > 0 ? (found > 0 ? Math.min(before, found) : Math.max(before, found)) : 0;
  if (certain === 0) return;
  repair.store.incr(key, -certain);
  repair.suspected[key] = undefined;
  if (certain <= 0) return;
  repair.returned_total += certain;
  repair.store.incr(freedKey(upstream), 1);
}

/**
 * One round. After a death all limits are looked at, else some of them in turn.
 *
 * @param breathe called after each limit looked at
 */
export function repairSlots(repair: SlotRepair, breathe: (this: void) => void): void {
  if (repair.total === 0) return;
  readHolders(repair);
  noticeEmptied(repair);
  let left = Math.min(repair.total, PER_TICK);
  if (repair.urgent_ticks > 0) {
    repair.urgent_ticks--;
    left = repair.total;
  }
  let u = 0;
  let at = repair.cursor % repair.total;
  while (at >= repair.names[u].length) {
    at -= repair.names[u].length;
    u++;
  }
  for (; left > 0; left--) {
    repairOne(repair, repair.upstreams[u], repair.names[u][at]);
    breathe();
    repair.cursor = (repair.cursor + 1) % repair.total;
    at++;
    if (at >= repair.names[u].length) {
      at = 0;
      u = (u + 1) % repair.upstreams.length;
    }
  }
}
