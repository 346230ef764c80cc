/** Which further tries of a request are made: within the retry budget and before its deadline. */
import { depositRequest, withdrawRetry } from "../core/retry_budget";
import type { RequestRecord } from "./requests";
import type { Upstream } from "./upstream";

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
  if (!withdrawRetry(upstream.retry_budget, now_ms)) {
    counts.retries_denied++;
    return false;
  }
  counts.retries++;
  return true;
}
