/**
 * A retry budget: retries are at most a share of the requests, so that a failing upstream gets a fifth more load, not
 * a multiple. After Finagle's RetryBudget (`twitter/finagle`, finagle-core RetryBudget.scala: deposits expire after a
 * time to live of 10 s, a minimum a second on top), as in linkerd; Envoy's `retry_budget` has the same defaults (20 %,
 * 3) over what is active instead of over time. Deviation: counts by whole seconds, without a bucket per deposit.
 *
 * A ratio that nobody chose binds only while retries are of no use: while next to nothing of what the nodes are sent is
 * answered. Where they are, each request that a retry would have saved is one that nginx alone would have served, and the
 * pool's size bounds the tries as it does there.
 *
 * One worker's: a share of each worker's requests is that share of all. Written by the balancer phase and by flushes;
 * lives with the worker. Nothing is allocated after it is made.
 */

/** Seconds that requests count for: Finagle's and linkerd's time to live. */
export const WINDOW_S = 10;

/** The ratio where nobody chose one: Finagle's, linkerd's and Envoy's. */
const UNCHOSEN_RATIO = 0.2;

/**
 * More failed tries than this for each one that is answered: retries are of no use. Of the requests that six nodes fail
 * like that, all tries of all six would save one in seventeen.
 */
const FAILED_PER_ANSWER = 100;

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
  /** The ratio was chosen: it binds whatever retries bring. */
  is_chosen: boolean;
  /** Retries beyond the budget are denied. */
  binds: boolean;
  /** Tries that were answered and that failed, in this second and in the one before; and which second that is. */
  answered: number;
  failed: number;
  answered_before: number;
  failed_before: number;
  outcome_second: number;
}

/**
 * @param ratio retries for each request, 0 or more; undefined = nobody chose one
 * @param min_per_s retries a second that this worker may make in any case, 0 or more
 */
export function newRetryBudget(ratio: number | undefined, min_per_s: number): RetryBudget {
  const budget: RetryBudget = {
    ratio: ratio ?? UNCHOSEN_RATIO,
    reserve: min_per_s * WINDOW_S,
    requests: [],
    retries: [],
    request_count: 0,
    retry_count: 0,
    second: 0,
    is_chosen: ratio !== undefined,
    binds: ratio !== undefined,
    answered: 0,
    failed: 0,
    answered_before: 0,
    failed_before: 0,
    outcome_second: 0,
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

/** Begins a new second of outcomes. */
function turnOutcomes(budget: RetryBudget, now_ms: number): void {
  const second = Math.floor(now_ms / 1000);
  if (second <= budget.outcome_second) return;
  const is_next = second === budget.outcome_second + 1;
  budget.answered_before = is_next ? budget.answered : 0;
  budget.failed_before = is_next ? budget.failed : 0;
  budget.answered = 0;
  budget.failed = 0;
  budget.outcome_second = second;
}

/**
 * Tells what became of the tries that ended since the last call, and decides whether a budget that nobody chose binds:
 * it does when over one to two seconds, and since the last call, next to nothing was answered; a few failures are no
 * proof. The first answers end it.
 */
export function noteOutcomes(budget: RetryBudget, answered: number, failed: number, now_ms: number): void {
  if (budget.is_chosen) return;
  turnOutcomes(budget, now_ms);
  budget.answered += answered;
  budget.failed += failed;
  const all_answered = budget.answered + budget.answered_before;
  const is_useless = budget.failed + budget.failed_before > (all_answered + 1) * FAILED_PER_ANSWER;
  const is_news = answered + failed > 0;
  budget.binds = is_useless && (is_news ? failed > answered * FAILED_PER_ANSWER : budget.binds);
}

/** @returns whether one more try of a request is allowed; it is counted then */
export function withdrawRetry(budget: RetryBudget, now_ms: number): boolean {
  if (now_ms >= (budget.second + 1) * 1000) advance(budget, now_ms);
  // Shares like 0.1 do not add up to whole numbers exactly.
  const allowed = budget.request_count * budget.ratio + budget.reserve + 1e-9;
  if (budget.binds && budget.retry_count + 1 > allowed) return false;
  budget.retries[budget.second % WINDOW_S]++;
  budget.retry_count++;
  return true;
}
