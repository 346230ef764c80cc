import { addSparse, clearCounts, mergeInto, subtractFrom } from "./histogram";
import type { NodeDelta } from "./wire";

/**
 * Sliding windows over what happened at one node. A window is a ring of slots of equal length; its
 * total is kept while slots come and go (the newest is added to, the expired one subtracted), so a
 * look at it costs the same however long it is. What a window covers is therefore between its length
 * less one slot and its length. Written and read by the collector only; lives as long as it does.
 */

/** What happened in some span of time. Counts may be fractions after a takeover. */
export interface Tally {
  picks: number;
  ok: number;
  err: number;
  fail: number;
  aborted: number;
  /** Refused for load (429, 503 with Retry-After): neither good nor bad. */
  busy: number;
  /** Sum of the latencies of the `ok` tries, ms. */
  sum_ms: number;
  /** Latencies of the `ok` tries, by bucket (histogram.ts). */
  hist: number[];
  /** How much time the counts come from, ms. */
  span_ms: number;
}

export interface Window {
  slot_ms: number;
  slots: Tally[];
  /** Number of the current slot since the clock's zero: floor(now ÷ slot_ms). */
  current: number;
  total: Tally;
  /** When it was made or cleared last, monotonic ms: a young window covers less than its length. */
  since_ms: number;
  /** When it was last advanced, monotonic ms: what is added now happened since then. */
  last_ms: number;
}

/** The two windows of a node. */
export interface NodeWindows {
  short: Window;
  long: Window;
}

/** Slots of the short window: 0.5 s each for 5 s, the collector's own interval. */
const SHORT_SLOTS = 10;

/** Slots of the long window: 5 s each for 60 s. More would cost memory (a histogram each) and tell little more. */
const LONG_SLOTS = 12;

function newTally(): Tally {
  return { picks: 0, ok: 0, err: 0, fail: 0, aborted: 0, busy: 0, sum_ms: 0, hist: [], span_ms: 0 };
}

function clearTally(tally: Tally): void {
  clearCounted(tally);
  tally.span_ms = 0;
}

function clearCounted(tally: Tally): void {
  tally.picks = 0;
  tally.ok = 0;
  tally.err = 0;
  tally.fail = 0;
  tally.aborted = 0;
  tally.busy = 0;
  tally.sum_ms = 0;
  clearCounts(tally.hist);
}

/** @param sign 1 adds, -1 subtracts */
function addTally(target: Tally, source: Tally, sign: 1 | -1): void {
  target.picks += sign * source.picks;
  target.ok += sign * source.ok;
  target.err += sign * source.err;
  target.fail += sign * source.fail;
  target.aborted += sign * source.aborted;
  target.busy += sign * source.busy;
  target.sum_ms += sign * source.sum_ms;
  target.span_ms += sign * source.span_ms;
  if (source.ok <= 0) return;
  if (sign > 0) mergeInto(target.hist, source.hist);
  else subtractFrom(target.hist, source.hist);
}

/**
 * @param length_ms more than 0
 * @param count slots, at least 2
 * @param now_ms monotonic ms
 */
export function newWindow(length_ms: number, count: number, now_ms: number): Window {
  const slot_ms = length_ms / count;
  const slots: Tally[] = [];
  for (let i = 0; i < count; i++) slots[i] = newTally();
  return {
    slot_ms,
    slots,
    current: Math.floor(now_ms / slot_ms),
    total: newTally(),
    since_ms: now_ms,
    last_ms: now_ms,
  };
}

/** Forgets everything. */
export function clearWindow(window: Window, now_ms: number): void {
  for (let i = 0; i < window.slots.length; i++) clearTally(window.slots[i]);
  clearTally(window.total);
  window.current = Math.floor(now_ms / window.slot_ms);
  window.since_ms = now_ms;
  window.last_ms = now_ms;
}

/**
 * Lets the slots expire that `now_ms` leaves behind; what is added next counts as having happened since
 * the last call. Ticks may be uneven; after a gap longer than the window it is empty; a clock that stands
 * still or goes back expires nothing.
 */
export function advance(window: Window, now_ms: number): void {
  const passed_ms = now_ms - window.last_ms;
  if (passed_ms <= 0) return;
  const wanted = Math.floor(now_ms / window.slot_ms);
  const count = window.slots.length;
  const steps = Math.min(wanted - window.current, count);
  for (let step = 1; step <= steps; step++) expire(window, (window.current + step) % count);
  window.current = wanted;
  window.last_ms = now_ms;
  // Sums of fractions of milliseconds do not cancel exactly: an empty window must be exactly empty.
  if (steps > 0 && isEmpty(window.total)) clearCounted(window.total);
  const span_ms = Math.min(passed_ms, count * window.slot_ms);
  window.slots[wanted % count].span_ms += span_ms;
  window.total.span_ms += span_ms;
}

function expire(window: Window, index: number): void {
  const slot = window.slots[index];
  if (!isEmpty(slot)) {
    addTally(window.total, slot, -1);
    clearTally(slot);
  } else {
    window.total.span_ms -= slot.span_ms;
    slot.span_ms = 0;
  }
}

/** Adds what a worker reported to the current slot: also what arrives late. */
export function add(window: Window, delta: NodeDelta): void {
  addDelta(window.slots[window.current % window.slots.length], delta);
  addDelta(window.total, delta);
}

function addDelta(tally: Tally, delta: NodeDelta): void {
  tally.picks += delta.picks;
  tally.ok += delta.ok;
  tally.err += delta.err;
  tally.fail += delta.fail;
  tally.aborted += delta.aborted;
  tally.busy += delta.busy;
  tally.sum_ms += delta.sum_ms;
  // Latencies are those of successes: without one there is nothing that could expire with the slot.
  if (delta.ok > 0) addSparse(tally.hist, delta.hist, 1);
}

/** @returns whether nothing happened in it */
export function isEmpty(tally: Tally): boolean {
  return (
    tally.picks <= 0 && tally.ok <= 0 && tally.err <= 0 && tally.fail <= 0 && tally.aborted <= 0 && tally.busy <= 0
  );
}

/** @returns tries that say something of the node: all but those the client ended */
export function judged(tally: Tally): number {
  return tally.ok + tally.err + tally.fail;
}

/** @returns failed tries ÷ judged tries, 0..1; 0 without any */
export function errorRate(tally: Tally): number {
  const all = judged(tally);
  return all > 0 ? (tally.err + tally.fail) / all : 0;
}

/** @returns mean latency of the successes, ms; undefined without any */
export function meanMs(tally: Tally): number | undefined {
  return tally.ok > 0 ? tally.sum_ms / tally.ok : undefined;
}

/** @returns how much time the window's counts come from, ms; never less than one slot */
export function coveredMs(window: Window): number {
  return Math.max(window.slot_ms, window.total.span_ms);
}

/**
 * @param short_s length of the short window, seconds
 * @param long_s length of the long window, seconds; more than short_s
 */
export function newNodeWindows(short_s: number, long_s: number, now_ms: number): NodeWindows {
  return {
    short: newWindow(short_s * 1000, SHORT_SLOTS, now_ms),
    long: newWindow(long_s * 1000, LONG_SLOTS, now_ms),
  };
}

/** Lets both windows slide to `now_ms`. */
export function advanceNode(windows: NodeWindows, now_ms: number): void {
  advance(windows.short, now_ms);
  advance(windows.long, now_ms);
}

/** Adds what a worker reported to both windows. */
export function feedNode(windows: NodeWindows, delta: NodeDelta): void {
  add(windows.short, delta);
  add(windows.long, delta);
}

/** Forgets everything: the node is judged on new evidence from here. */
export function clearNode(windows: NodeWindows, now_ms: number): void {
  clearWindow(windows.short, now_ms);
  clearWindow(windows.long, now_ms);
}

/** Makes the long window forget what the short one does not know: the node is not what it was. */
export function forgetOlder(windows: NodeWindows, now_ms: number): void {
  const { short, long } = windows;
  clearWindow(long, now_ms);
  restore(long, short.total);
}

/** Puts a tally into the current slot as a whole: it ages out as one. */
export function restore(window: Window, tally: Tally): void {
  addTally(window.slots[window.current % window.slots.length], tally, 1);
  addTally(window.total, tally, 1);
}

/** A tally of our own that can be filled in, e.g. from the shared store. */
export function emptyTally(): Tally {
  return newTally();
}
