/**
 * The node for a try, with the slots it takes there (slots.ts): asks choose.ts until a node has one. Bounded: in a large
 * pool neither one full node nor thousands of them make a pick dear.
 */
import { ask, type FaultReporter } from "./ask";
import { isRampFull, pickOnce, widen } from "./choose";
import { freeSlots } from "./in_flight";
import { missesSome } from "./log_watch";
import { requestHash } from "./request_key";
import type { RequestRecord } from "./requests";
import { areAllFull, isClosed, noteAllFull, reopenAll } from "./slot_marks";
import { Allow, freeSlot, type Slots, takeSlot } from "./slots";
import { returnTrial } from "./trials";
import type { Upstream } from "./upstream";

export type { FaultReporter } from "./ask";

/** What `pickNode` answers when every node has all the requests it may have. */
export const ALL_FULL = -2;

/** Strategies are asked so often before any node with room will do: each time one more was found full. */
const ASK_MAX = 16;

/** Any usable node with room, whatever the strategy thinks; -1 = none. */
function takeAny(upstream: Upstream, slots: Slots, record: RequestRecord): number {
  const scratch = upstream.scratch;
  const count = widen(upstream, record, !upstream.panic);
  upstream.turn++;
  for (let k = 0; k < count; k++) {
    const node = scratch[(k + upstream.turn) % count];
    if (takeSlot(slots, node, upstream.request.now_ms)) return node;
  }
  return -1;
}

/** One of `allow`'s two rounds: asks the strategy until a node has a slot, then takes any; -1 = every node is full. */
function pickAllowed(upstream: Upstream, slots: Slots, record: RequestRecord, report: FaultReporter): number {
  for (let k = 0; k < ASK_MAX; k++) {
    const node = pickOnce(upstream, record, report);
    if (node < 0) return -1;
    if (takeSlot(slots, node, upstream.request.now_ms)) return node;
    returnTrial(upstream, node);
  }
  return takeAny(upstream, slots, record);
}

/** Nodes are full: picks until one has a slot, within the limits first, then in what else the request may use. */
function pickWithRoom(upstream: Upstream, slots: Slots, record: RequestRecord, report: FaultReporter): number {
  const now_ms = upstream.request.now_ms;
  if (areAllFull(slots, now_ms)) return ALL_FULL;
  reopenAll(slots, now_ms);
  let node = pickAllowed(upstream, slots, record, report);
  if (node >= 0) return node;
  slots.allow = slots.allow_last;
  node = pickAllowed(upstream, slots, record, report);
  if (node >= 0) return node;
  // What a retry may not use others may.
  if (upstream.request.tries === 0) noteAllFull(slots, now_ms);
  return ALL_FULL;
}

/** In pools up to this size all nodes are looked at as soon as one is full. */
const NARROW_MAX = 64;

/** In a large pool with a full node here and there most picks do not meet one: so without looking at all of them first. */
function pickUnnarrowed(upstream: Upstream, slots: Slots, report: FaultReporter): number {
  const { pool, request } = upstream;
  if (pool.candidate_count <= NARROW_MAX || request.tries > 0 || upstream.placement !== undefined) return -1;
  if (upstream.trials.open_count > 0) return -1;
  const node = ask(upstream, pool, upstream.strategy_state, pool.candidates, pool.candidate_count, report);
  if (upstream.ramps_limited && isRampFull(upstream, node)) return -1;
  return !isClosed(slots, node, request.now_ms) && takeSlot(slots, node, request.now_ms) ? node : -1;
}

/** The first choice, with its slot; -1 = it, or some other node, is full. */
function pickFirst(upstream: Upstream, slots: Slots, record: RequestRecord, report: FaultReporter): number {
  if (slots.closed_count > 0) return pickUnnarrowed(upstream, slots, report);
  const node = pickOnce(upstream, record, report);
  if (node < 0 || takeSlot(slots, node, upstream.request.now_ms)) return node;
  returnTrial(upstream, node);
  return -1;
}

/** The pick of an upstream with limits: the node has a slot for the request. */
function pickSlot(upstream: Upstream, slots: Slots, record: RequestRecord, report: FaultReporter): number {
  slots.off = missesSome(upstream.logs, upstream.request.now_ms);
  slots.allow = Allow.Limit;
  if (!takeSlot(slots, slots.n, upstream.request.now_ms)) return ALL_FULL;
  upstream.trials.taken = -1;
  let node = pickFirst(upstream, slots, record, report);
  if (node < 0) node = pickWithRoom(upstream, slots, record, report);
  if (node < 0) {
    freeSlot(slots, slots.n);
    return node;
  }
  record.slot_upstream = upstream;
  record.slot_node = node;
  return node;
}

/**
 * Picks the node for the next try of a request, and takes its slots. Access and balancer phases.
 * @param can_wait the request waits when every node is full: it leaves the overflow to those that cannot
 * @returns a node number; -1 when the upstream has no node at all that may be used; ALL_FULL
 */
export function pickNode(
  upstream: Upstream,
  record: RequestRecord,
  now_ms: number,
  report: FaultReporter,
  can_wait?: boolean,
): number {
  if (upstream.pool.candidate_count === 0) return -1;
  upstream.request.now_ms = now_ms;
  upstream.request.tries = record.tries - record.settled_tries;
  if (upstream.strategy.uses_key === true) upstream.request.key = requestHash(upstream, record);
  const slots = upstream.slots;
  if (slots === undefined) return pickOnce(upstream, record, report);
  freeSlots(record);
  slots.allow_last = can_wait === true ? Allow.Patient : Allow.Overflow;
  return pickSlot(upstream, slots, record, report);
}
