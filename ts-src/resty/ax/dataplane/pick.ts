/**
 * From candidates to a node: what the framework does around a strategy. First try: the strategy picks
 * among the tier in use. Retry: nodes the request already used are taken out first. A strategy of the
 * user's own that throws or answers nonsense costs nothing but its own say.
 */
import { cheapest } from "../core/cost";
import { type RequestRecord, wasTried } from "./requests";
import type { Upstream } from "./upstream";

/** Told of what went wrong in a pick that was served all the same. */
export type FaultReporter = (this: void, kind: "strategy" | "overflow", message: string) => void;

function isFull(upstream: Upstream, node: number): boolean {
  const pool = upstream.pool;
  const limit = pool.max_conns[node];
  return limit > 0 && pool.in_flight[node] + pool.others_in_flight[node] >= limit;
}

/** Candidates not yet tried and with room, into `scratch`; returns how many. */
function narrow(upstream: Upstream, record: RequestRecord, respect_limits: boolean): number {
  const pool = upstream.pool;
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

function pickCustom(upstream: Upstream, candidates: number[], count: number, report: FaultReporter): number {
  const [ok, answer] = pcall(
    upstream.strategy.pick,
    upstream.strategy_state,
    upstream.pool,
    candidates,
    count,
    upstream.request,
  );
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

function ask(upstream: Upstream, candidates: number[], count: number, report: FaultReporter): number {
  if (upstream.strategy_is_custom) return pickCustom(upstream, candidates, count, report);
  return upstream.strategy.pick(upstream.strategy_state, upstream.pool, candidates, count, upstream.request);
}

/** The slow way: some candidates are out for this request. */
function pickNarrowed(upstream: Upstream, record: RequestRecord, report: FaultReporter): number {
  const pool = upstream.pool;
  const scratch = upstream.scratch;
  let count = narrow(upstream, record, upstream.limited);
  if (count > 0) return ask(upstream, scratch, count, report);
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
  if (tries > 0 || upstream.limited) return pickNarrowed(upstream, record, report);
  return ask(upstream, pool.candidates, count, report);
}
