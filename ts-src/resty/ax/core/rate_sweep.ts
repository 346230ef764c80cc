/**
 * Removes the counts of a rate limit (rate_limit.ts) that nobody needs any more. Slots are numbered by their length, so
 * a reload with another rate or burst leaves counts behind that its own numbers never come to: their length is noted,
 * and whoever runs next removes them too.
 *
 * | key | written by | read by | lives |
 * |---|---|---|---|
 * | rate:<name>                 | every worker: lengths of slots that may have counts, ms, with spaces | every worker | for ever |
 * | rate:<name>:<length>:swept  | every worker: the slot before which all counts are removed | every worker | until the length is no more in use |
 * | rate:<name>:<length>:<slot> | every worker: tokens taken | every worker | KEEP_MS after they are lost |
 */
import type { Store } from "./store";
import { asNumber } from "./values";

/** Counts are kept for so long after their tokens are lost, ms: for a worker that was stopped meanwhile. */
const KEEP_MS = 5000;

/** Slots in a burst at most (rate_limit.ts: fewer than ten), and the one that is going on. */
const LIVES_MOST = 10;

/** Slots swept at a time: ten times what comes in a flush. What is more waits for the next flush. */
const SWEPT_AT_ONCE = 2000;

/** Workers of the configuration before may count on for so long, ms: their last requests. */
const OLD_FOR_MS = 60000;

/** Counts of slots of one length. */
interface Sweep {
  /** The length as text. */
  length: string;
  slot_ms: number;
  prefix: string;
  /** All slots before this one have had their counts removed. */
  swept: number;
  /** No counts are left from then on, monotonic ms; Infinity for the length in use. */
  until_ms: number;
}

/** Of one limit; lives as long as its worker. */
export interface Sweeps {
  store: Store;
  name: string;
  /** The first one is the length in use. */
  list: Sweep[];
}

function listKey(name: string): string {
  return `rate:${name}`;
}

function sweptKey(sweep: Sweep): string {
  return `${sweep.prefix}swept`;
}

function lengthsIn(store: Store, name: string): string[] {
  return `${store.get(listKey(name)) ?? ""}`.split(" ");
}

function keptSlots(slot_ms: number): number {
  return LIVES_MOST + Math.ceil(KEEP_MS / slot_ms);
}

function newSweep(name: string, length: string, slot_ms: number, now_ms: number, until_ms: number): Sweep {
  // Where nobody has noted how far sweeping is, nobody has swept, or the store was emptied.
  const swept = Math.max(0, Math.floor(now_ms / slot_ms) - keptSlots(slot_ms));
  return { length, slot_ms, prefix: `rate:${name}:${length}:`, swept, until_ms };
}

/**
 * @param slot_ms length of the slots in use
 * @param now_ms monotonic ms
 */
export function newSweeps(store: Store, name: string, slot_ms: number, now_ms: number): Sweeps {
  const own = newSweep(name, `${slot_ms}`, slot_ms, now_ms, Infinity);
  const list = [own];
  const lengths = lengthsIn(store, name);
  for (let i = 0; i < lengths.length; i++) {
    const old_ms = Number(lengths[i]);
    if (lengths[i] !== own.length && lengths[i] !== "" && old_ms > 0 && old_ms < Infinity) {
      list.push(newSweep(name, lengths[i], old_ms, now_ms, now_ms + OLD_FOR_MS));
    }
  }
  return { store, name, list };
}

/** Notes that counts of this length may be there; or that none are any more. */
function note(sweeps: Sweeps, length: string, is_used: boolean): void {
  const lengths = lengthsIn(sweeps.store, sweeps.name);
  if (lengths.includes(length) === is_used) return;
  let text = is_used ? length : "";
  for (let i = 0; i < lengths.length; i++) {
    if (lengths[i] !== length && lengths[i] !== "") text = text === "" ? lengths[i] : `${text} ${lengths[i]}`;
  }
  // Without room a later reload may leave some counts behind, no more.
  sweeps.store.set(listKey(sweeps.name), text);
}

/**
 * One worker's sweeping is enough: the others go on from where it is.
 *
 * @returns whether all are removed that there will ever be
 */
function sweepOne(store: Store, sweep: Sweep, now_ms: number): boolean {
  const last = Math.floor(sweep.until_ms / sweep.slot_ms) + 1;
  const until = Math.min(last, Math.floor(now_ms / sweep.slot_ms) - keptSlots(sweep.slot_ms));
  sweep.swept = asNumber(store.get(sweptKey(sweep))) ?? sweep.swept;
  const end = Math.min(until, sweep.swept + SWEPT_AT_ONCE);
  if (sweep.swept < end) {
    for (; sweep.swept < end; sweep.swept++) store.remove(`${sweep.prefix}${sweep.swept}`);
    store.set(sweptKey(sweep), sweep.swept);
  }
  return sweep.swept >= last;
}

/** Removes what is due, the counts of earlier configurations included. Flush. */
export function sweepKeys(sweeps: Sweeps, now_ms: number): void {
  const { store, list } = sweeps;
  note(sweeps, list[0].length, true);
  for (let i = list.length - 1; i >= 0; i--) {
    if (sweepOne(store, list[i], now_ms)) {
      store.remove(sweptKey(list[i]));
      note(sweeps, list[i].length, false);
      list.splice(i, 1);
    }
  }
}
