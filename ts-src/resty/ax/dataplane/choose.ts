/**
 * From candidates to a node: what the framework does around a strategy. First try: the strategy picks
 * among the tier in use. Retry: nodes the request already used are taken out first. A strategy of the
 * user's own that throws or answers nonsense costs nothing but its own say.
 */
import { avoids, type Loads, type Role } from "../core/classes";
import { HASH_RANGE, hashNumber } from "../core/hash";
import { leastLoaded } from "../core/load";
import type { Pool } from "../core/pool";
import { draw } from "../core/random";
import { ask, cheapestInTurn, type FaultReporter } from "./ask";
import type { Placement } from "./placement";
import { type RequestRecord, wasTried } from "./requests";
import { isClosed } from "./slot_marks";
import { takeTrial } from "./trials";
import { isTaken, isUsable } from "./candidates";
import type { Upstream } from "./upstream";

/** Whether some candidates must be left out because of their limits. */
function hasClosed(upstream: Upstream): boolean {
  return upstream.slots !== undefined && upstream.slots.closed_count > 0;
}

function isOut(upstream: Upstream, node: number): boolean {
  return upstream.slots !== undefined && isClosed(upstream.slots, node, upstream.request.now_ms);
}

/** A ramping node takes only so many at a time: its caches and pools are as cold as its share is small. */
export function isRampFull(upstream: Upstream, node: number): boolean {
  const limit = upstream.ramp_limit[node];
  if (limit <= 0) return false;
  const pool = upstream.pool;
  return pool.in_flight[node] - pool.long_in_flight[node] + pool.others_in_flight[node] >= limit;
}

/** Takes ramping nodes that are full out of `scratch`, unless nothing would be left; returns how many are left. */
function leaveRamps(upstream: Upstream, count: number): number {
  const scratch = upstream.scratch;
  let room = 0;
  for (let k = 0; k < count; k++) if (!isRampFull(upstream, scratch[k])) room++;
  if (room === 0) return count;
  let kept = 0;
  for (let k = 0; k < count; k++) {
    if (!isRampFull(upstream, scratch[k])) {
      scratch[kept] = scratch[k];
      kept++;
    }
  }
  return kept;
}

/** Candidates of a view not yet tried and with room, into `scratch`; returns how many. */
function narrow(upstream: Upstream, pool: Pool, record: RequestRecord): number {
  const scratch = upstream.scratch;
  let count = 0;
  for (let k = 0; k < pool.candidate_count; k++) {
    const node = pool.candidates[k];
    if (!wasTried(record, upstream, node) && !isOut(upstream, node)) {
      scratch[count] = node;
      count++;
    }
  }
  return upstream.ramps_limited ? leaveRamps(upstream, count) : count;
}

/**
 * Nodes of any tier that the operator did not take down, the request has not tried and are not known to be full, into
 * `scratch`; returns how many.
 */
export function widen(upstream: Upstream, record: RequestRecord, usable_only: boolean): number {
  const scratch = upstream.scratch;
  let count = 0;
  for (let node = 0; node < upstream.pool.n; node++) {
    const usable = isUsable(upstream, node);
    const allowed = !isTaken(upstream, node) && (usable || !usable_only);
    if (allowed && !wasTried(record, upstream, node) && !isOut(upstream, node)) {
      scratch[count] = node;
      count++;
    }
  }
  return count;
}

/** Takes the nodes that the request's role keeps away from out of `scratch`; returns how many are left. */
function keepForRole(upstream: Upstream, pool: Pool, loads: Loads, role: Role, count: number): number {
  const scratch = upstream.scratch;
  let kept = 0;
  for (let k = 0; k < count; k++) {
    const node = scratch[k];
    if (!avoids(role, loads, pool, node)) {
      scratch[kept] = node;
      kept++;
    }
  }
  return kept;
}

/** The strategy's pick is not for this request's class: it picks again among those that are. */
function pickForRole(
  upstream: Upstream,
  pool: Pool,
  state: never,
  loads: Loads,
  record: RequestRecord,
  report: FaultReporter,
): number {
  const scratch = upstream.scratch;
  let count = narrow(upstream, pool, record);
  const all = count;
  count = keepForRole(upstream, pool, loads, record.role, all);
  if (count > 0) return ask(upstream, pool, state, scratch, count, report);
  // Every node is over what was usual at the last flush.
  count = narrow(upstream, pool, record);
  upstream.turn++;
  return leastLoaded(pool, pool.static_weight, scratch, count, upstream.turn % count);
}

/** One view of the upstream, with regard to the request's class; -1 when nothing in it is left for the request. */
function pickInView(
  upstream: Upstream,
  placement: Placement,
  is_other: boolean,
  record: RequestRecord,
  report: FaultReporter,
): number {
  const pool = is_other ? placement.others : upstream.pool;
  const state = is_other ? placement.others_state : upstream.strategy_state;
  const is_narrowed = upstream.request.tries > 0 || hasClosed(upstream);
  let candidates = is_narrowed ? upstream.scratch : pool.candidates;
  let count = is_narrowed ? narrow(upstream, pool, record) : pool.candidate_count;
  if (count === 0) return -1;
  let node = ask(upstream, pool, state, candidates, count, report);
  if (!is_narrowed && upstream.ramps_limited && isRampFull(upstream, node)) {
    candidates = upstream.scratch;
    count = narrow(upstream, pool, record);
    node = ask(upstream, pool, state, candidates, count, report);
  }
  if (placement.source === undefined) return node;
  const loads = is_other ? placement.others_loads : placement.loads;
  if (!avoids(record.role, loads, pool, node)) return node;
  return pickForRole(upstream, pool, state, loads, record, report);
}

/** Seed of the draw that sends keys to other zones: another than the rings', or one arc of the ring would go. */
const ZONE_SEED = 1;

/** 0..1. Where a key decides it decides here too: the same keys overflow, and the others stay. */
function drawZone(upstream: Upstream, placement: Placement): number {
  if (upstream.strategy.uses_key === true) return hashNumber(upstream.request.key, ZONE_SEED) / HASH_RANGE;
  return draw(placement.random);
}

/** With zones or classes: a view by the zones' shares, the other one when it has nothing left. */
function pickPlaced(upstream: Upstream, placement: Placement, record: RequestRecord, report: FaultReporter): number {
  const others_count = placement.others.candidate_count;
  const is_other = others_count > 0 && drawZone(upstream, placement) >= placement.local_share;
  let node = pickInView(upstream, placement, is_other, record, report);
  if (node < 0 && others_count > 0) node = pickInView(upstream, placement, !is_other, record, report);
  return node < 0 ? pickBeyond(upstream, record) : node;
}

/** The slow way: some candidates are out for this request. */
function pickNarrowed(upstream: Upstream, record: RequestRecord, report: FaultReporter): number {
  const count = narrow(upstream, upstream.pool, record);
  if (count === 0) return pickBeyond(upstream, record);
  return ask(upstream, upstream.pool, upstream.strategy_state, upstream.scratch, count, report);
}

/** The candidates that are within their limits, tried before or not, into `scratch`; returns how many. */
function withRoom(upstream: Upstream): number {
  const pool = upstream.pool;
  const scratch = upstream.scratch;
  let count = 0;
  for (let k = 0; k < pool.candidate_count; k++) {
    if (!isOut(upstream, pool.candidates[k])) {
      scratch[count] = pool.candidates[k];
      count++;
    }
  }
  return count;
}

/** Whether nothing more is tried after this pick: before that, untried nodes have their overflow (pick.ts). */
function isLastRound(upstream: Upstream): boolean {
  const slots = upstream.slots;
  return slots === undefined || slots.allow === slots.allow_last;
}

/** No candidate is left for the request; -1 when no other node is, either. */
function pickBeyond(upstream: Upstream, record: RequestRecord): number {
  const scratch = upstream.scratch;
  // Any untried node before a tried one: usable ones of the other tier, then, on a retry, those that are out.
  let count = widen(upstream, record, true);
  if (count === 0 && record.tries > record.settled_tries) count = widen(upstream, record, false);
  if (count === 0 && isLastRound(upstream)) count = withRoom(upstream);
  return count === 0 ? -1 : cheapestInTurn(upstream, scratch, count);
}

/** One pick, within what the limits are known to allow; -1 when nothing is left. */
export function pickOnce(upstream: Upstream, record: RequestRecord, report: FaultReporter): number {
  const pool = upstream.pool;
  const is_first = upstream.request.tries === 0;
  if (is_first && upstream.trials.open_count > 0) {
    const node = takeTrial(upstream, record, report);
    if (node >= 0) return node;
  }
  if (upstream.placement !== undefined) return pickPlaced(upstream, upstream.placement, record, report);
  if (!is_first || hasClosed(upstream)) return pickNarrowed(upstream, record, report);
  const node = ask(upstream, pool, upstream.strategy_state, pool.candidates, pool.candidate_count, report);
  // Only then: one node that ramps must not make every pick look at all of them.
  if (upstream.ramps_limited && isRampFull(upstream, node)) return pickNarrowed(upstream, record, report);
  return node;
}
