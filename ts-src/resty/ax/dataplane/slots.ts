/**
 * The concurrency limits of one upstream, as this worker sees them: one slot for each request in flight at a
 * node, and one for each in the upstream where that is limited. Exact over all workers (core/slots.ts): a
 * request that has its slots is within the limits, whatever the other workers do.
 *
 * The worker leases slots in blocks (leases.ts) and takes them for requests from its own lease, so that far
 * from a limit a request costs no access to the shared store. Written by the access, balancer and log phases
 * and the flush; lost with the worker, whose leases the collector then gives back.
 */
import { freedKey, hardLimit, heldKey, totalKey } from "../core/slots";
import type { Store } from "../core/store";
import { giveIdle, lease, writeHeld } from "./leases";
import { capOf, close, forgetFull, hasMarks, NEVER_MS, NOT_HELD_MS, wasRefused } from "./slot_marks";

/** How much of a limit may be used. */
export const enum Allow {
  /** The limit itself; overloaded nodes are left out. */
  Limit = 0,
  /** The overflow too, and overloaded nodes: for requests that cannot wait. */
  Overflow = 1,
  /**
   * Overloaded nodes too, but no overflow: for requests that can wait. What they leave is there for retries, which
   * nginx makes in a phase that cannot wait.
   */
  Patient = 2,
}

/** Arrays by node number; position n is the upstream as a whole. A limit of 0 = none. */
export interface Slots {
  store: Store;
  /** This worker's number (claimHolder); 0 = none yet: nothing can be leased, and nothing is refused. */
  holder: number;
  upstream: string;
  n: number;
  ids: string[];
  /** The limit in force, and with overflow; moved by `setLimit`. */
  limit: number[];
  hard: number[];
  /** The most for a request that can wait: the limit, but with overflow where nobody chose one. */
  patient: number[];
  /** As configured. */
  own_limit: number[];
  own_hard: number[];
  own_patient: number[];
  /** How far limits below the configured ones may be exceeded. */
  moved_overflow_ratio: number;
  total_key: string[];
  held_key: string[];
  /** Taken by requests of this worker; leased by it. `used` is over `held` only where nothing could be leased. */
  used: number[];
  held: number[];
  /** Moves with every change of `held`. */
  version: number[];
  /** Slots leased by all workers, as read last. */
  seen: number[];
  /** A slot was freed since the last flush; the flush that saw that last, monotonic ms. */
  touched: boolean[];
  idle_since_ms: number[];
  /** Refused under Allow.Limit, under Allow.Overflow, at the time given; -1 = not. */
  refused_ms: number[];
  refused_hard_ms: number[];
  /** Overloaded: to be left out until then, monotonic ms; 0 = not. */
  cooling_until_ms: number[];
  /** Has failed requests: those that can wait leave it alone until then, monotonic ms; 0 = not. */
  paced_until_ms: number[];
  /** Nodes that were refused, are cooling or paced: the picks look only when there are some. */
  closed_count: number;
  is_closed: boolean[];
  /**
   * Every node was found full, for those that can wait and for those that cannot; to be believed until then unless
   * something changes in this worker, monotonic ms.
   */
  all_full_until_ms: number;
  all_hard_full_until_ms: number;
  /** Moves when any worker has made room at a node that was full; its value before the last look through all of them. */
  freed_key: string;
  freed_seen: number;
  /** Until then "every node is full" may be believed further if nobody has freed anything, monotonic ms. */
  rescan_ms: number;
  /** Marks were looked through at this time. */
  reopened_at_ms: number;
  /** What the pick under way may use now, and at last. */
  allow: Allow;
  allow_last: Allow;
  cool_down_ms: number;
  /** Requests let through because nothing could be leased (no room in the store). */
  unleased_total: number;
  /** Switched off: requests whose end goes unseen would fill every limit. */
  off: boolean;
  /** Idle slots go back at once: the worker is shutting down and has no flush any more. */
  eager: boolean;
}

export interface SlotLimits {
  /** By node: the limit, 0 = none; and how far it may be exceeded, 0..1. */
  limit: number[];
  overflow_ratio: number[];
  /** Nobody chose the node's limit: it makes no request wait. */
  unchosen: boolean[];
  /** How far limits that `setLimit` has lowered may be exceeded, 0..1. */
  moved_overflow_ratio: number;
  /** Of the upstream as a whole; 0 = none. */
  whole: number;
  /** How long an overloaded node is left out, ms. */
  cool_down_ms: number;
}

function addEntry(slots: Slots, id: string, limit: number, hard: number, patient: number): void {
  const at = slots.limit.length;
  slots.limit[at] = limit;
  slots.hard[at] = hard;
  slots.patient[at] = patient;
  slots.own_limit[at] = limit;
  slots.own_hard[at] = hard;
  slots.own_patient[at] = patient;
  slots.total_key[at] = totalKey(slots.upstream, id);
  slots.held_key[at] = heldKey(slots.upstream, id, slots.holder);
  slots.used[at] = 0;
  slots.held[at] = 0;
  slots.version[at] = 0;
  slots.seen[at] = 0;
  slots.touched[at] = false;
  slots.idle_since_ms[at] = 0;
  slots.refused_ms[at] = NEVER_MS;
  slots.refused_hard_ms[at] = NEVER_MS;
  slots.cooling_until_ms[at] = NOT_HELD_MS;
  slots.paced_until_ms[at] = NOT_HELD_MS;
  slots.is_closed[at] = false;
}

function addEntries(slots: Slots, limits: SlotLimits): void {
  for (let node = 0; node < slots.n; node++) {
    const limit = limits.limit[node];
    const hard = hardLimit(limit, limits.overflow_ratio[node]);
    addEntry(slots, slots.ids[node], limit, hard, limits.unchosen[node] ? hard : limit);
  }
  addEntry(slots, "", limits.whole, limits.whole, limits.whole);
}

/**
 * @param upstream its name
 * @param ids the nodes' identities
 * @param holder this worker's number; the keys it left when another process had the number are removed
 */
export function newSlots(store: Store, holder: number, upstream: string, ids: string[], limits: SlotLimits): Slots {
  const n = ids.length;
  const slots: Slots = {
    store,
    holder,
    upstream,
    n,
    ids,
    limit: [],
    hard: [],
    patient: [],
    own_limit: [],
    own_hard: [],
    own_patient: [],
    moved_overflow_ratio: limits.moved_overflow_ratio,
    total_key: [],
    held_key: [],
    used: [],
    held: [],
    version: [],
    seen: [],
    touched: [],
    idle_since_ms: [],
    refused_ms: [],
    refused_hard_ms: [],
    cooling_until_ms: [],
    paced_until_ms: [],
    closed_count: 0,
    is_closed: [],
    all_full_until_ms: NOT_HELD_MS,
    all_hard_full_until_ms: NOT_HELD_MS,
    freed_key: freedKey(upstream),
    freed_seen: -1,
    rescan_ms: NOT_HELD_MS,
    reopened_at_ms: NEVER_MS,
    allow: Allow.Limit,
    allow_last: Allow.Overflow,
    cool_down_ms: limits.cool_down_ms,
    unleased_total: 0,
    off: false,
    eager: false,
  };
  addEntries(slots, limits);
  for (let at = 0; at <= n; at++) store.remove(slots.held_key[at]);
  return slots;
}

/** This worker has got its number only now (the store was full before), or it has another one: somebody else has its own. */
export function setHolder(slots: Slots, holder: number): void {
  slots.holder = holder;
  for (let at = 0; at <= slots.n; at++) {
    slots.held_key[at] = heldKey(slots.upstream, at < slots.n ? slots.ids[at] : "", holder);
    if (slots.held[at] > 0) writeHeld(slots, at, slots.held[at]);
    else slots.store.remove(slots.held_key[at]);
  }
}

/**
 * The adaptive limit of a node has moved: it holds from the next lease on. Never more than what is configured, with
 * which it ends. Leases that are over it end with the requests that use them.
 *
 * @param node number
 * @param limit 1 or more
 */
export function setLimit(slots: Slots, node: number, limit: number): void {
  const own = slots.own_limit[node];
  const lowered = limit < own;
  forgetFull(slots);
  slots.limit[node] = lowered ? limit : own;
  slots.patient[node] = lowered ? limit : slots.own_patient[node];
  const own_hard = slots.own_hard[node];
  slots.hard[node] = lowered ? Math.min(hardLimit(limit, slots.moved_overflow_ratio), own_hard) : own_hard;
}

/**
 * What counts as configured is another now: a backlog is being drained, or no longer.
 *
 * @param at node number, or n for the upstream as a whole
 * @param limit 1 or more
 */
export function setOwnLimit(slots: Slots, at: number, limit: number, overflow_ratio: number): void {
  forgetFull(slots);
  slots.own_limit[at] = limit;
  slots.own_hard[at] = hardLimit(limit, overflow_ratio);
  slots.own_patient[at] = limit;
  slots.limit[at] = limit;
  slots.hard[at] = slots.own_hard[at];
  slots.patient[at] = limit;
}

/**
 * Takes a slot for a request.
 *
 * @param at node number, or n for the upstream as a whole
 * @returns false when the limit is reached (as `allow` has it); `isClosed` is true of it then
 */
export function takeSlot(slots: Slots, at: number, now_ms: number): boolean {
  if (slots.used[at] >= slots.held[at] && slots.limit[at] > 0 && !leaseFor(slots, at, now_ms)) return false;
  slots.used[at]++;
  return true;
}

/** The slow half of `takeSlot`: the worker's own lease is used up. */
function leaseFor(slots: Slots, at: number, now_ms: number): boolean {
  if (slots.off || slots.holder === 0) {
    slots.unleased_total++;
    return true;
  }
  // Refused a moment ago: the store need not be asked again.
  if (at === slots.n && wasRefused(slots.refused_ms[at], now_ms)) return false;
  const cap = capOf(slots, at);
  if (lease(slots, at, cap)) return true;
  if (at < slots.n) close(slots, at, cap, now_ms);
  else slots.refused_ms[at] = now_ms;
  return false;
}

/**
 * A request has ended, or its try: its slot is free. Near the limit it goes back at once, for the other workers.
 *
 * @param at node number, or n
 */
export function freeSlot(slots: Slots, at: number): void {
  slots.used[at]--;
  if (slots.limit[at] === 0) return;
  if (at === slots.n || hasMarks(slots)) {
    slots.refused_ms[at] = NEVER_MS;
    slots.refused_hard_ms[at] = NEVER_MS;
    // A refused request gives back what it had of the upstream as a whole: that makes no room at a node.
    if (at < slots.n) forgetFull(slots);
  }
  if (slots.used[at] >= slots.held[at]) return;
  slots.touched[at] = true;
  giveIdle(slots, at);
}
