/**
 * What a worker remembers of nodes that had no slot (slots.ts): for a moment, so that picks need not ask the shared
 * store again and again, and of overloaded nodes for longer, so that they cool down. Marks are in `Slots`.
 */
import { fraction } from "../core/fraction";
import { asCount } from "../core/values";
import { Allow, type Slots } from "./slots";

/** Times that are not set (core/fraction.ts): of a refusal, and until when a node is held back. */
export const NEVER_MS = fraction(-1);
export const NOT_HELD_MS = fraction(0);

/** A refusal is taken as still true for so long: the nginx clock's tick and one more. */
const REFUSED_FOR_MS = 2;

/** Something has changed: whether every node is full is to be found out anew. */
export function forgetFull(slots: Slots): void {
  slots.all_full_until_ms = NOT_HELD_MS;
  slots.all_hard_full_until_ms = NOT_HELD_MS;
}

/** Whether any node was refused, or all: far from the limits there is nothing to forget. */
export function hasMarks(slots: Slots): boolean {
  return slots.closed_count > 0 || slots.all_full_until_ms > 0 || slots.all_hard_full_until_ms > 0;
}

/** The most that the pick under way may have leased, over all workers. */
export function capOf(slots: Slots, at: number): number {
  if (slots.allow === Allow.Limit) return slots.limit[at];
  return slots.allow === Allow.Overflow ? slots.hard[at] : slots.patient[at];
}

/** The node has refused a slot under this cap. */
export function close(slots: Slots, at: number, cap: number, now_ms: number): void {
  slots.refused_ms[at] = now_ms;
  if (cap === slots.hard[at]) {
    slots.refused_hard_ms[at] = now_ms;
    // Only nodes that may exceed their limit are known to be overloaded when they reach the end of it.
    if (slots.hard[at] > slots.limit[at]) slots.cooling_until_ms[at] = now_ms + slots.cool_down_ms;
  }
  mark(slots, at);
}

function mark(slots: Slots, at: number): void {
  if (slots.is_closed[at]) return;
  slots.is_closed[at] = true;
  slots.closed_count++;
}

/** A node that fails is left alone for no longer than this, ms: when it works again it is to be found out soon. */
const PACED_MAX_MS = 1000;

/**
 * The node has failed a request. While all others are full its place would be the only one free, again and again, and
 * a node that fails at once would be given everything that waits. So to those that can wait, each failure takes some of
 * the node's time: as many times that of an answer as it is worse than the best node. Where all fail alike, or there is
 * only one, nothing is held back: then a wait gains nothing. Log and balancer phases.
 * @param latency_ms of its answers
 * @param worse the best node's share of successes ÷ its own, less 1: 0 or more
 */
export function pace(slots: Slots, node: number, latency_ms: number, worse: number, now_ms: number): void {
  const limit = slots.limit[node];
  if (limit === 0 || worse <= 0) return;
  const begin_ms = Math.max(now_ms, slots.paced_until_ms[node]);
  slots.paced_until_ms[node] = Math.min(begin_ms + (latency_ms / limit) * worse, now_ms + PACED_MAX_MS);
  mark(slots, node);
}

/** Takes the marks off that are no longer true. */
function reopen(slots: Slots, at: number, now_ms: number): void {
  if (now_ms - slots.refused_ms[at] < REFUSED_FOR_MS || now_ms < slots.cooling_until_ms[at]) return;
  if (now_ms < slots.paced_until_ms[at]) return;
  slots.refused_ms[at] = NEVER_MS;
  slots.refused_hard_ms[at] = NEVER_MS;
  slots.cooling_until_ms[at] = NOT_HELD_MS;
  slots.is_closed[at] = false;
  slots.closed_count--;
}

/**
 * Looks which nodes are open again, once per turn of the clock. Before the slow kind of pick: call it when
 * `closed_count` is not 0.
 */
export function reopenAll(slots: Slots, now_ms: number): void {
  if (slots.reopened_at_ms === now_ms) return;
  slots.reopened_at_ms = now_ms;
  for (let node = 0; node < slots.n; node++) if (slots.is_closed[node]) reopen(slots, node, now_ms);
}

/** Nodes for which "all are full" is believed for a ms longer: finding out costs the store a read or two for each. */
const NODES_PER_MS = 250;

/** All nodes are looked at again after so long even if nobody has freed anything: a node may have joined, or its limit moved. */
const RESCAN_MS = 20;

/** A whole pick has found every node full: so it is for others of its kind, and for those that may use less. */
export function noteAllFull(slots: Slots, now_ms: number): void {
  const until_ms = now_ms + Math.max(REFUSED_FOR_MS, slots.n / NODES_PER_MS);
  slots.all_full_until_ms = until_ms;
  if (slots.allow_last === Allow.Overflow) slots.all_hard_full_until_ms = until_ms;
  slots.rescan_ms = now_ms + RESCAN_MS;
  for (let node = 0; node < slots.n; node++) {
    // It will be open then, and nobody will say so.
    const paced_ms = slots.paced_until_ms[node];
    if (paced_ms > now_ms && paced_ms < slots.rescan_ms) slots.rescan_ms = paced_ms;
  }
}

/** Somebody has freed a place since: refusals may be true no longer. */
function forgetRefusals(slots: Slots): void {
  forgetFull(slots);
  for (let node = 0; node < slots.n; node++) {
    if (slots.is_closed[node]) {
      slots.refused_ms[node] = NEVER_MS;
      slots.refused_hard_ms[node] = NEVER_MS;
    }
  }
}

/**
 * Whether a pick like the one under way has found every node full, and nobody has freed anything since: one read of the
 * store, every REFUSED_FOR_MS at most. When the answer is no, the nodes are to be looked at.
 */
export function areAllFull(slots: Slots, now_ms: number): boolean {
  const is_last = slots.allow_last === Allow.Overflow;
  const until_ms = is_last ? slots.all_hard_full_until_ms : slots.all_full_until_ms;
  if (now_ms < until_ms) return true;
  const freed = asCount(slots.store.get(slots.freed_key));
  if (freed !== slots.freed_seen) {
    // Read before the nodes are looked at: what is freed meanwhile shows the next time.
    slots.freed_seen = freed;
    forgetRefusals(slots);
    return false;
  }
  const is_full = until_ms > 0 && now_ms < slots.rescan_ms;
  const next_ms = is_full ? now_ms + REFUSED_FOR_MS : 0;
  // What those that can wait find, those that cannot may use too.
  if (is_last || !is_full) slots.all_hard_full_until_ms = next_ms;
  if (!is_last) slots.all_full_until_ms = next_ms;
  return is_full;
}

/** Whether a refusal is still taken as true. */
export function wasRefused(at_ms: number, now_ms: number): boolean {
  return at_ms >= 0 && now_ms - at_ms < REFUSED_FOR_MS;
}

/** Whether the pick under way must leave the node out: it was refused just now, or it is overloaded and cools down. */
export function isClosed(slots: Slots, node: number, now_ms: number): boolean {
  if (!slots.is_closed[node]) return false;
  if (slots.allow_last === Allow.Patient && now_ms < slots.paced_until_ms[node]) return true;
  if (slots.allow !== Allow.Limit) {
    const is_hard = capOf(slots, node) === slots.hard[node];
    return wasRefused(is_hard ? slots.refused_hard_ms[node] : slots.refused_ms[node], now_ms);
  }
  return now_ms < slots.cooling_until_ms[node] || wasRefused(slots.refused_ms[node], now_ms);
}
