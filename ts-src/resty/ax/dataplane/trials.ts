/**
 * Trials of half-open nodes: of all requests over all workers, one at a time may go to such a node. The collector grants
 * a trial by its number in the snapshot; whoever adds the trial's key to the shared store takes it, and shared memory
 * lets one succeed. The collector sees the outcome like any other, and grants the next one when a trial comes to no end.
 */
import type { Store } from "../core/store";
import { trialKey } from "../core/wire";
import { ask, type FaultReporter } from "./ask";
import type { RequestRecord } from "./requests";
import { isClosed } from "./slot_marks";
import type { Upstream } from "./upstream";

/**
 * Picks that may pass a trial on because their request must not be sent twice, or its key belongs to another node; then
 * any takes it. Of keys a half-open node has `ramp_from` of its part: a fifth of 1 in n.
 */
const PATIENCE = 100;
const PATIENCE_PER_NODE = 20;

/** A request that waited is picked for while another one runs: its method cannot be read, so it counts as not repeatable. */
function mayRepeat(upstream: Upstream, record: RequestRecord): boolean {
  return upstream.mayRepeat === undefined || (record.waiter === undefined && upstream.mayRepeat());
}

/** A WebSocket or an event stream: that it is not over soon is no sign of anything. Not read for one that waited. */
function mayLast(upstream: Upstream, record: RequestRecord): boolean {
  return upstream.mayLast !== undefined && record.waiter === undefined && upstream.mayLast();
}

/** This worker has just been refused a slot for it. */
function isFull(upstream: Upstream, node: number): boolean {
  return upstream.slots !== undefined && isClosed(upstream.slots, node, upstream.request.now_ms);
}

/**
 * Nothing was sent on the trial: another request may have it, here or in another worker.
 *
 * @param trial its number
 */
export function giveTrialBack(upstream: Upstream, node: number, trial: number): void {
  const { store, trials } = upstream;
  // Ended meanwhile: its key is gone, or is not ours.
  if (store === undefined || trials.granted[node] !== trial || trials.open[node]) return;
  trials.open[node] = true;
  trials.open_count++;
  store.remove(trialKey(upstream.pool.name, upstream.pool.ids[node], trial));
}

/** The pick that took a trial got no slot at the node. */
export function returnTrial(upstream: Upstream, node: number): void {
  if (upstream.trials.taken !== node) return;
  upstream.trials.taken = -1;
  giveTrialBack(upstream, node, upstream.trials.granted[node]);
}

/** Whether the request would come to the node if it were back: others would miss its cache, or lose their session. */
function ownsKey(upstream: Upstream, node: number, report: FaultReporter): boolean {
  const { pool, scratch } = upstream;
  let count = 0;
  for (let k = 0; k < pool.candidate_count; k++) {
    // In panic it is one of them.
    if (pool.candidates[k] !== node) {
      scratch[count] = pool.candidates[k];
      count++;
    }
  }
  scratch[count] = node;
  return ask(upstream, pool, upstream.strategy_state, scratch, count + 1, report) === node;
}

/**
 * @returns the half-open node that this request is to try; -1 = none. Asks for each trial once. Access and balancer
 *   phases; for a request that waited, any phase of another one.
 */
export function takeTrial(upstream: Upstream, record: RequestRecord, report: FaultReporter): number {
  const store = upstream.store;
  if (store === undefined) return -1;
  const by_key = upstream.strategy.uses_key === true;
  const patience = by_key ? PATIENCE + PATIENCE_PER_NODE * upstream.pool.n : PATIENCE;
  const is_patient = upstream.trials.passed < patience;
  const lasts = mayLast(upstream, record);
  if (is_patient && (lasts || !mayRepeat(upstream, record))) {
    upstream.trials.passed++;
    return -1;
  }
  let passed = false;
  for (let node = 0; node < upstream.pool.n; node++) {
    // What lasts cannot tell whether a silent node is stuck; a half-open one has to come back with nothing else, too.
    const fits = !lasts || upstream.state[node] === "probing";
    if (fits && upstream.trials.open[node] && !isFull(upstream, node)) {
      if (by_key && is_patient && !ownsKey(upstream, node, report)) {
        passed = true;
      } else if (claim(upstream, store, node)) {
        return node;
      }
    }
  }
  if (passed) upstream.trials.passed++;
  return -1;
}

/** Asks for a trial, once. @returns whether it is this pick's: shared memory lets one succeed */
function claim(upstream: Upstream, store: Store, node: number): boolean {
  upstream.trials.open[node] = false;
  upstream.trials.open_count--;
  upstream.trials.passed = 0;
  if (!store.add(trialKey(upstream.pool.name, upstream.pool.ids[node], upstream.trials.granted[node]), 1)) return false;
  upstream.trials.taken = node;
  return true;
}
