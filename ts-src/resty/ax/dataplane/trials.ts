/**
 * Trials of half-open nodes: of all requests over all workers, one at a time may go to such a node. The collector grants
 * a trial by its number in the snapshot; whoever adds the trial's key to the shared store takes it, and shared memory
 * lets one succeed. The collector sees the outcome like any other, and grants the next one when a trial comes to no end.
 */
import { trialKey } from "../core/wire";
import type { RequestRecord } from "./requests";
import type { Upstream } from "./upstream";

/** Picks that may pass a trial on because their request must not be sent twice; then any takes it. */
const PATIENCE = 100;

/** A request that waited is picked for while another one runs: its method cannot be read, so it counts as not repeatable. */
function mayRepeat(upstream: Upstream, record: RequestRecord): boolean {
  return upstream.mayRepeat === undefined || (record.waiter === undefined && upstream.mayRepeat());
}

/**
 * @returns the half-open node that this request is to try; -1 = none. Asks for each trial once. Access and balancer
 *   phases; for a request that waited, any phase of another one.
 */
export function takeTrial(upstream: Upstream, record: RequestRecord): number {
  const store = upstream.store;
  if (store === undefined) return -1;
  if (!mayRepeat(upstream, record) && upstream.trials_passed < PATIENCE) {
    upstream.trials_passed++;
    return -1;
  }
  for (let node = 0; node < upstream.pool.n; node++) {
    if (upstream.trial_open[node]) {
      upstream.trial_open[node] = false;
      upstream.trials_open--;
      upstream.trials_passed = 0;
      if (store.add(trialKey(upstream.pool.name, upstream.pool.ids[node], upstream.trial[node]), 1)) return node;
    }
  }
  return -1;
}
