/** Asking the strategy. One of the user's own that throws or answers nonsense costs nothing but its own say. */
import { cheapest } from "../core/cost";
import type { Pool } from "../core/pool";
import { errorText } from "./error_text";
import type { Upstream } from "./upstream";

/** Told of what went wrong in a pick that was served all the same. */
export type FaultReporter = (this: void, kind: "strategy" | "hash_key" | "class_source", message: string) => void;

/** The cheapest; equal ones take turns, at every call, not at every pick: a request may make two, one of them here. */
export function cheapestInTurn(upstream: Upstream, candidates: number[], count: number): number {
  const at = cheapest(upstream.pool, candidates, count, upstream.turn % count, upstream.request.now_ms);
  upstream.turn = at + 1;
  return candidates[at];
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
          `${errorText(answer)}, which is not one of the ${count} candidates`
      : `strategy_module "${upstream.config.strategy_module}" of upstream "${upstream.config.name}": ${errorText(answer)}`,
  );
  return cheapestInTurn(upstream, candidates, count);
}

/** @returns the strategy's choice among the first `count` of `candidates`, at least one */
export function ask(
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
