/**
 * From candidates to a node: what the framework does around a strategy. First try: the strategy picks
 * among the tier in use. Retry: nodes the request already used are taken out first. A strategy of the
 * user's own that throws or answers nonsense costs nothing but its own say.
 */
import { cheapest } from "../core/cost";
import { avoids, type Loads, type Role } from "../core/classes";
import { HASH_RANGE, hashNumber } from "../core/hash";
import { leastLoaded } from "../core/load";
import type { Pool } from "../core/pool";
import { draw } from "../core/random";
import type { Placement } from "./placement";
import { requestHash } from "./request_key";
import { type RequestRecord, wasTried } from "./requests";
import type { Upstream } from "./upstream";

/** Told of what went wrong in a pick that was served all the same. */
export type FaultReporter = (
  this: void,
  kind: "strategy" | "overflow" | "hash_key" | "class_source",
  message: string,
) => void;

function isFull(upstream: Upstream, node: number): boolean {
  const pool = upstream.pool;
  const limit = pool.max_conns[node];
  return limit > 0 && pool.in_flight[node] + pool.others_in_flight[node] >= limit;
}

/** Candidates of a view not yet tried and with room, into `scratch`; returns how many. */
function narrow(upstream: Upstream, pool: Pool, record: RequestRecord, respect_limits: boolean): number {
  const scratch = upstream.scratch;
  let count = 0;
  for (let k = 0; k < pool.candidate_count; k++) {
    const node = pool.candidates[k];
    if (!wasTried(record, upstream, node) && !(respect_limits && isFull(upstream, node))) {
      scratch[count] = node;
      count++;
    }
  }
  return count;
}

/** Nodes outside the tier in use that the operator did not take down and the request has not tried. */
function widen(upstream: Upstream, record: RequestRecord, usable_only: boolean): number {
  const scratch = upstream.scratch;
  let count = 0;
  for (let node = 0; node < upstream.pool.n; node++) {
    const usable = upstream.state[node] !== "ejected" && upstream.held_until_ms[node] === 0;
    if (!upstream.config.nodes[node].down && (usable || !usable_only) && !wasTried(record, upstream, node)) {
      scratch[count] = node;
      count++;
    }
  }
  return count;
}

function isOneOf(candidates: number[], count: number, node: unknown): boolean {
  for (let k = 0; k < count; k++) if (candidates[k] === node) return true;
  return false;
}

function pickCustom(
  upstream: Upstream,
  pool: Pool,
  state: never,
  candidates: number[],
  count: number,
  report: FaultReporter,
): number {
  const [ok, answer] = pcall(upstream.strategy.pick, state, pool, candidates, count, upstream.request);
  if (ok && isOneOf(candidates, count, answer)) return answer;
  report(
    "strategy",
    ok
      ? `strategy_module "${upstream.config.strategy_module}" of upstream "${upstream.config.name}" returned ` +
          `${tostring(answer)}, which is not one of the ${count} candidates`
      : `strategy_module "${upstream.config.strategy_module}" of upstream "${upstream.config.name}": ${tostring(answer)}`,
  );
  return cheapest(upstream.pool, candidates, count, 0, upstream.request.now_ms);
}

function ask(
  upstream: Upstream,
  pool: Pool,
  state: never,
  candidates: number[],
  count: number,
  report: FaultReporter,
): number {
  if (upstream.strategy_is_custom) return pickCustom(upstream, pool, state, candidates, count, report);
  return upstream.strategy.pick(state, pool, candidates, count, upstream.request);
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
  let count = narrow(upstream, pool, record, upstream.limited);
  const all = count;
  count = keepForRole(upstream, pool, loads, record.role, all);
  if (count > 0) return ask(upstream, pool, state, scratch, count, report);
  // Every node is over what was usual at the last flush.
  count = narrow(upstream, pool, record, upstream.limited);
  return leastLoaded(pool, pool.static_weight, scratch, count, upstream.picks_total % count);
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
  let candidates = pool.candidates;
  let count = pool.candidate_count;
  if (upstream.request.tries > 0 || upstream.limited) {
    candidates = upstream.scratch;
    count = narrow(upstream, pool, record, upstream.limited);
  }
  if (count === 0) return -1;
  const node = ask(upstream, pool, state, candidates, count, report);
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
  return node < 0 ? pickBeyond(upstream, record, report) : node;
}

/** The slow way: some candidates are out for this request. */
function pickNarrowed(upstream: Upstream, record: RequestRecord, report: FaultReporter): number {
  const count = narrow(upstream, upstream.pool, record, upstream.limited);
  if (count === 0) return pickBeyond(upstream, record, report);
  return ask(upstream, upstream.pool, upstream.strategy_state, upstream.scratch, count, report);
}

/** No candidate is left for the request. */
function pickBeyond(upstream: Upstream, record: RequestRecord, report: FaultReporter): number {
  const pool = upstream.pool;
  const scratch = upstream.scratch;
  let count = 0;
  if (record.tries > record.settled_tries) {
    // Any untried node before a tried one: usable ones of the other tier, then those that are out.
    count = widen(upstream, record, true);
    if (count === 0) count = widen(upstream, record, false);
    if (count > 0) return cheapest(pool, scratch, count, 0, upstream.request.now_ms);
  } else if (upstream.limited) {
    count = widen(upstream, record, true);
    let room = 0;
    for (let k = 0; k < count; k++) {
      if (!isFull(upstream, scratch[k])) {
        scratch[room] = scratch[k];
        room++;
      }
    }
    if (room > 0) return cheapest(pool, scratch, room, 0, upstream.request.now_ms);
    report("overflow", `every node of upstream "${upstream.config.name}" is at its max_conns`);
  }
  return cheapest(pool, pool.candidates, pool.candidate_count, 0, upstream.request.now_ms);
}

/**
 * Picks the node for the next try of a request. Balancer phase.
 * @returns a node number, or -1 when the upstream has no node at all that may be used
 */
export function pickNode(upstream: Upstream, record: RequestRecord, now_ms: number, report: FaultReporter): number {
  const pool = upstream.pool;
  const count = pool.candidate_count;
  if (count === 0) return -1;
  upstream.request.now_ms = now_ms;
  const tries = record.tries - record.settled_tries;
  upstream.request.tries = tries;
  if (upstream.strategy.uses_key === true) upstream.request.key = requestHash(upstream, record);
  if (upstream.placement !== undefined) return pickPlaced(upstream, upstream.placement, record, report);
  if (tries > 0 || upstream.limited) return pickNarrowed(upstream, record, report);
  return ask(upstream, pool, upstream.strategy_state, pool.candidates, count, report);
}
