/**
 * A retry budget: retries are at most a share of the requests, so that a failing upstream gets a fifth more load, not
 * a multiple. After Finagle's RetryBudget (`twitter/finagle`, finagle-core RetryBudget.scala: deposits expire after a
 * time to live of 10 s, a minimum a second on top), as in linkerd; Envoy's `retry_budget` has the same defaults (20 %,
 * 3) over what is active instead of over time. Deviation: counts by whole seconds, without a bucket per deposit.
 *
 * One worker's: a share of each worker's requests is that share of all. * Written by the balancer phase; lives with the worker. Nothing is allocated after it is made.
 */

/** Seconds that requests count for: Finagle's and linkerd's time to live. */
export const WINDOW_S = 10;

export interface RetryBudget {
  /** Retries allowed for one request, and those allowed in any case in the whole window. */
  ratio: number;
  reserve: number;
  /** By second modulo the window. */
  requests: number[];
  retries: number[];
  /** Sums of the two. */
  request_count: number;
  retry_count: number;
  /** The second under way. */
  second: number;
}

/**
 * @param ratio retries for each request, 0 or more
 * @param min_per_s retries a second that this worker may make in any case, 0 or more
 */
export function newRetryBudget(ratio: number, min_per_s: number): RetryBudget {
  const budget: RetryBudget = {
    ratio,
    reserve: min_per_s * WINDOW_S,
    requests: [],
    retries: [],
    request_count: 0,
    retry_count: 0,
    second: 0,
  };
  for (let k = 0; k < WINDOW_S; k++) {
    budget.requests[k] = 0;
    budget.retries[k] = 0;
  }
  return budget;
}

/**
 * What is allowed in any case is for all workers together; but one retry in the window each worker has for itself, or the
 * first failure on a quiet gateway of many workers would not be retried, as nginx alone would.
 */
export function shareReserve(budget: RetryBudget, workers: number): void {
  if (budget.reserve > 0) budget.reserve = Math.max(1, budget.reserve / workers);
}

/** Forgets the seconds that have left the window. */
function advance(budget: RetryBudget, now_ms: number): void {
  const second = Math.floor(now_ms / 1000);
  if (second <= budget.second) return;
  const passed = Math.min(WINDOW_S, second - budget.second);
  for (let k = 0; k < passed; k++) {
    const at = (second - k) % WINDOW_S;
    budget.request_count -= budget.requests[at];
    budget.retry_count -= budget.retries[at];
    budget.requests[at] = 0;
    budget.retries[at] = 0;
  }
  budget.second = second;
}

/** A request's first try. */
export function depositRequest(budget: RetryBudget, now_ms: number): void {
  if (now_ms >= (budget.second + 1) * 1000) advance(budget, now_ms);
  budget.requests[budget.second % WINDOW_S]++;
  budget.request_count++;
}

/** @returns whether one more try of a request is within the budget; it is counted then */
export function withdrawRetry(budget: RetryBudget, now_ms: number): boolean {
  if (now_ms >= (budget.second + 1) * 1000) advance(budget, now_ms);
  // Shares like 0.1 do not add up to whole numbers exactly.
  if (budget.retry_count + 1 > budget.request_count * budget.ratio + budget.reserve + 1e-9) return false;
  budget.retries[budget.second % WINDOW_S]++;
  budget.retry_count++;
  return true;
}
