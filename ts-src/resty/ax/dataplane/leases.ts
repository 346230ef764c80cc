/**
 * Leases of slots: what a worker takes from the common count of a limit, and gives back. See core/slots.ts for
 * the keys, and for why the order of the writes matters.
 *
 * Far from the limit a worker leases blocks and keeps what requests have left idle; near it, one slot at a time,
 * given back as soon as its request ends. In between the idle ones go back with the flush, so that no worker is
 * refused for longer than one flush while another holds slots that it does not use.
 */
import { HELD_SPAN, VERSIONS } from "../core/slots";
import type { Slots } from "./slots";

/** A block is this part of what is free: sixteen workers could lease one each. */
const BLOCK_SHARE = 16;

/** A block's size at most: a flush's worth of requests at some hundred a second; more would only lie idle. */
const BLOCK_MAX = 64;

/** With less than this free, blocks are of one slot, and idle slots go back at once. */
const NEAR = 2 * BLOCK_SHARE;

/** A lease that nothing has used for so long goes back, whatever is free. */
const IDLE_MS = 1000;

/** Says in the worker's own key what it holds. */
export function writeHeld(slots: Slots, at: number, held: number): boolean {
  const version = (slots.version[at] + 1) % VERSIONS;
  slots.version[at] = version;
  return slots.store.set(slots.held_key[at], version * HELD_SPAN + held);
}

/** @returns slots to lease at a time */
function blockSize(slots: Slots, at: number, cap: number): number {
  const block = Math.floor((cap - slots.seen[at]) / BLOCK_SHARE);
  return block < 1 ? 1 : block > BLOCK_MAX ? BLOCK_MAX : block;
}

/**
 * Whether it is as full as it was last. One read, where trying to lease would be four accesses: workers with waiting
 * requests ask of every node that was full, and go on asking.
 */
function isFull(slots: Slots, at: number, cap: number): boolean {
  const total = slots.store.get(slots.total_key[at]);
  slots.seen[at] = typeof total === "number" ? total : 0;
  return slots.seen[at] >= cap;
}

/**
 * Leases at least one more slot.
 *
 * @param cap the most that all workers may lease
 * @returns false when they have; true also when the store has no room, for that is our fault and not the request's
 */
export function lease(slots: Slots, at: number, cap: number): boolean {
  if (slots.seen[at] >= cap && isFull(slots, at, cap)) return false;
  const store = slots.store;
  const block = blockSize(slots, at, cap);
  const held = slots.held[at];
  if (!writeHeld(slots, at, held + block)) {
    slots.unleased_total++;
    return true;
  }
  const total = store.incr(slots.total_key[at], block);
  if (total === undefined) {
    writeHeld(slots, at, held);
    slots.unleased_total++;
    return true;
  }
  const over = total > cap ? total - cap : 0;
  const back = over < block ? over : block;
  slots.seen[at] = total - back;
  slots.held[at] = held + block - back;
  if (back > 0) {
    store.incr(slots.total_key[at], -back);
    writeHeld(slots, at, slots.held[at]);
    // For an instant there was less room than there is: somebody may have been refused for it.
    store.incr(slots.freed_key, 1);
  }
  return back < block;
}

/** Gives `count` slots back, and says so when the node was full: others may be waiting for it. */
function giveBack(slots: Slots, at: number, count: number): void {
  const held = slots.held[at] - count;
  slots.held[at] = held;
  const total = slots.store.incr(slots.total_key[at], -count);
  writeHeld(slots, at, held);
  if (total === undefined) return;
  slots.seen[at] = total;
  if (at < slots.n && total + count >= slots.limit[at]) slots.store.incr(slots.freed_key, 1);
}

/** After a request: near the limit, its slot goes back. */
export function giveIdle(slots: Slots, at: number): void {
  if (slots.eager || slots.limit[at] - slots.seen[at] < NEAR) giveBack(slots, at, slots.held[at] - slots.used[at]);
}

/** One limit's part of the flush. */
function settleOne(slots: Slots, at: number, now_ms: number): void {
  const held = slots.held[at];
  const total = slots.store.get(slots.total_key[at]);
  slots.seen[at] = typeof total === "number" ? total : 0;
  // Somebody emptied the store: what this worker holds must be known, or it would be given to others. The collector puts
  // the count right, if it finds one.
  if (total === undefined) slots.store.add(slots.total_key[at], 0);
  const written = slots.store.get(slots.held_key[at]);
  if (written !== slots.version[at] * HELD_SPAN + held) writeHeld(slots, at, held);
  const idle = held - slots.used[at];
  if (idle <= 0) return;
  if (slots.touched[at]) {
    slots.touched[at] = false;
    slots.idle_since_ms[at] = now_ms;
  }
  const is_tight = slots.eager || slots.seen[at] > slots.limit[at] / 2;
  if (is_tight || now_ms - slots.idle_since_ms[at] >= IDLE_MS) giveBack(slots, at, idle);
}

/** Brings this worker's leases in line with what it uses. Flush. */
export function settleLeases(slots: Slots, now_ms: number): void {
  for (let at = 0; at <= slots.n; at++) {
    if (slots.held[at] > 0) settleOne(slots, at, now_ms);
  }
}
