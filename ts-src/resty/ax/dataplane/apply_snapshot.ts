/** Takes what the collector has published into this worker's pool. Flushes only. */
import { inverseOf } from "../core/cost";
import { fraction } from "../core/fraction";
import { isUsable as isUsableState } from "../core/health/states";
import type { Snapshot, SnapshotNode } from "../core/wire";
import { rebuildCandidates } from "./candidates";
import { COLD_LATENCY_MS, floorLatency, floorSuccess } from "./pool";
import type { Upstream } from "./upstream";

/** Own samples older than this yield to the snapshot's: the other workers know better by then. */
const OWN_SAMPLE_FRESH_MS = 3000;

/** What a snapshot says of trials and of the limits of ramps. */
function takeLimits(upstream: Upstream, node: number, given: SnapshotNode): void {
  const trial = given.trial ?? 0;
  if (trial !== upstream.trials.granted[node]) {
    upstream.trials.granted[node] = trial;
    upstream.trials.open[node] = trial > 0;
  }
  if (upstream.trials.open[node]) upstream.trials.open_count++;
  upstream.ramp_limit[node] = given.ramp_limit ?? 0;
  if (upstream.ramp_limit[node] > 0) upstream.ramps_limited = true;
}

function medianLatency(snapshot: Snapshot): number {
  const known: number[] = [];
  for (const [, node] of pairs(snapshot.nodes)) {
    if (node.latency_ms !== undefined) known.push(node.latency_ms);
  }
  if (known.length === 0) return COLD_LATENCY_MS;
  known.sort((a, b) => a - b);
  return known[Math.floor(known.length / 2)];
}

/** Takes over a snapshot: states and weights always, measurements where this worker has no fresh ones of its own. */
export function applySnapshot(upstream: Upstream, snapshot: Snapshot, now_ms: number): void {
  const pool = upstream.pool;
  const median_ms = medianLatency(snapshot);
  upstream.ruled_panic = snapshot.panic === true;
  upstream.trials.open_count = 0;
  upstream.ramps_limited = false;
  for (let node = 0; node < pool.n; node++) {
    const given = snapshot.nodes[pool.ids[node]];
    if (given !== undefined) {
      const was_out = !isUsableState(upstream.state[node]) && isUsableState(given.state);
      const is_back = was_out || (upstream.state[node] !== given.state && given.state === "ramping");
      takeLimits(upstream, node, given);
      if (is_back) upstream.counters.streak[node] = 0;
      upstream.state[node] = upstream.config.nodes[node].down ? "offline" : given.state;
      pool.weight[node] = fraction(given.weight);
      pool.static_weight[node] = fraction(given.static_weight);
      pool.inverse_prior[node] = inverseOf(Math.sqrt(given.weight * given.static_weight));
      pool.p99_ms[node] = fraction(given.judged_p99_ms ?? -1);
      if (is_back || now_ms - pool.last_sample_ms[node] > OWN_SAMPLE_FRESH_MS) {
        pool.latency_ms[node] = floorLatency(given.latency_ms ?? median_ms);
        pool.peak_latency_ms[node] = pool.latency_ms[node];
        pool.samples[node] = given.samples ?? 0;
        // Failures seen here stand until an answer: the collector's share still has the time before them in it.
        const success = is_back ? given.success : Math.min(given.success, pool.success[node]);
        pool.success[node] = floorSuccess(success);
      }
    }
  }
  rebuildCandidates(upstream);
}
