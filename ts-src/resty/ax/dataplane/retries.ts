/** Which further tries of a request are made: within the retry budget and before its deadline. */
import { depositRequest, noteOutcomes, withdrawRetry } from "../core/retry_budget";
import type { RequestRecord } from "./requests";
import type { Upstream } from "./upstream";

/** Some node has answered since the last flush: a node is back, and the budget has not heard of it. */
function isAnswering({ counters }: Upstream): boolean {
  for (let k = 0; k < counters.dirty_count; k++) if (counters.ok[counters.dirty[k]] > 0) return true;
  return false;
}

/**
 * Called before every try. Which requests nginx retries at all (`proxy_next_upstream`, `non_idempotent`) is its own
 * decision: it does not ask for a node then. Balancer phase.
 *
 * @returns whether the try may be made; a retry that may is counted against the budget
 */
export function mayTry(upstream: Upstream, record: RequestRecord, now_ms: number): boolean {
  if (record.tries === record.earlier_tries) {
    record.first_ms = now_ms;
    depositRequest(upstream.retry_budget, now_ms);
    return true;
  }
  const counts = upstream.tallies.total;
  const deadline_ms = upstream.config.retry_deadline_ms;
  if (deadline_ms > 0 && now_ms - record.first_ms >= deadline_ms) {
    counts.retries_late++;
    return false;
  }
  const budget = upstream.retry_budget;
  if (!withdrawRetry(budget, now_ms) && (budget.is_chosen || !isAnswering(upstream))) {
    counts.retries_denied++;
    return false;
  }
  counts.retries++;
  return true;
}

/** Tells the budget what became of the tries since the last flush. Flush, before the counters are taken out. */
export function weighRetries(upstream: Upstream, now_ms: number): void {
  const { counters, retry_budget } = upstream;
  let answered = 0;
  let failed = 0;
  for (let k = 0; k < counters.dirty_count; k++) {
    const node = counters.dirty[k];
    answered += counters.ok[node];
    failed += counters.err[node] + counters.fail[node] + counters.busy[node];
  }
  noteOutcomes(retry_budget, answered, failed, now_ms);
}
