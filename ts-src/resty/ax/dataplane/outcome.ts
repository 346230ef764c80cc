/**
 * From the end of a try to the pool's live measurements. Time constants are per worker; the snapshot
 * brings what the other workers saw.
 */
import { weigh } from "../core/cost";
import { countOutcome, Outcome } from "./counters";
import { nextPeak } from "../core/peak";
import type { Pool } from "../core/pool";
import { hold, release } from "./holds";
import { floorLatency, floorSuccess } from "./pool";
import { pace } from "./slot_marks";
import type { Upstream } from "./upstream";

/** After so long without news a node is half unknown: the next sample counts a third or more. */
const DECAY_MS = 1000;

/**
 * What one latency counts while there is news: a mean of about twenty. With 0.01 a node that has become slow is found
 * too late (docs/tuning.md).
 */
const LATENCY_GAIN = 0.05;

/**
 * While there is news, the latency of an answer counts as no more than this many times the mean: a heavy request, or those that a pause delayed, do
 * not make a slow node. One that has become slow raises the mean at every answer.
 */
const SPIKE_LATENCIES = 3;

/** One failure lowers the success share by at least this much: bad news must travel fast. */
const FAILURE_GAIN = 0.2;

/** One success raises it by at least this much of what is missing. */
const SUCCESS_GAIN = 0.005;

/**
 * Most that one sample counts, however long the last one is ago: a mean of one is too lucky, or too unlucky.
 * The first one counts more, for nothing is known before it.
 */
const MAX_GAIN = 0.4;
const FIRST_GAIN = 0.7;

/** Most that one failure takes off the success share. */
const MAX_FAILURE_GAIN = 0.5;

/**
 * What a sample counts: the more, the longer nothing had been heard of the node when the request was *sent*. Counted
 * up to its answer, the first answer after a pause of the node would weigh like the first after an idle time, and the
 * longest latency there is would become the mean.
 */
function gain(upstream: Upstream, node: number, latency_ms: number, now_ms: number): number {
  const last_ms = upstream.pool.last_sample_ms[node];
  upstream.pool.last_sample_ms[node] = now_ms;
  const unknown_ms = Math.max(0, now_ms - latency_ms - last_ms);
  const share = unknown_ms / (unknown_ms + DECAY_MS);
  return Math.min(share, last_ms > 0 ? MAX_GAIN : FIRST_GAIN);
}

/** @param counted_ms what of the latency goes into the mean; the peak takes all of it */
function learnLatency(
  upstream: Upstream,
  node: number,
  latency_ms: number,
  counted_ms: number,
  share: number,
  elapsed_ms: number,
): void {
  const pool = upstream.pool;
  const mean_ms = pool.latency_ms[node];
  pool.latency_ms[node] = floorLatency(mean_ms + Math.max(share, LATENCY_GAIN) * (counted_ms - mean_ms));
  pool.peak_latency_ms[node] = floorLatency(nextPeak(pool.peak_latency_ms[node], latency_ms, elapsed_ms));
}

function learnSuccess(upstream: Upstream, node: number, latency_ms: number, now_ms: number): void {
  const pool = upstream.pool;
  const elapsed_ms = now_ms - pool.last_sample_ms[node];
  const share = gain(upstream, node, latency_ms, now_ms);
  const has_news = share <= LATENCY_GAIN;
  const counted_ms = has_news ? Math.min(latency_ms, SPIKE_LATENCIES * pool.latency_ms[node]) : latency_ms;
  pool.samples[node]++;
  learnLatency(upstream, node, latency_ms, counted_ms, share, elapsed_ms);
  pool.success[node] += Math.max(share, SUCCESS_GAIN) * (1 - pool.success[node]);
}

/**
 * The client gave up waiting: no failure of the node, but it is known to be no faster than that. Without this, a
 * node that hangs looks idle, and as fast as ever, whenever clients have less patience than nginx.
 */
function learnAbort(upstream: Upstream, node: number, waited_ms: number, now_ms: number): void {
  if (waited_ms <= upstream.pool.latency_ms[node]) return;
  learnLatency(upstream, node, waited_ms, waited_ms, gain(upstream, node, 0, now_ms), 0);
}

/** Below this share of successes even the best node fails: shares that low differ by chance. */
const GOOD_SUCCESS = 0.5;

/** How much worse a node is than the best one in use: success share ÷ success share − 1; 0 where none is good. */
function worseThanBest(pool: Pool, node: number): number {
  let best = 0;
  for (let k = 0; k < pool.candidate_count; k++) best = Math.max(best, pool.success[pool.candidates[k]]);
  return best < GOOD_SUCCESS ? 0 : best / pool.success[node] - 1;
}

/**
 * A try failed: lower the node's success share at once. Also called at a retry, before the log phase
 * has the details, so that the next pick already knows.
 * @param answered it answered with a 5xx (else: refused, reset, timed out)
 */
export function learnFailure(upstream: Upstream, node: number, answered: boolean, now_ms: number): void {
  const pool = upstream.pool;
  const share = gain(upstream, node, 0, now_ms);
  const failure_share = Math.min(Math.max(share, FAILURE_GAIN), MAX_FAILURE_GAIN);
  pool.success[node] = floorSuccess(pool.success[node] * (1 - failure_share));
  weigh(pool, node);
  if (upstream.door.line !== undefined && upstream.slots !== undefined)
    pace(upstream.slots, node, pool.latency_ms[node], worseThanBest(pool, node), now_ms);
  const counters = upstream.counters;
  if (answered) {
    counters.streak[node] = 0;
    return;
  }
  counters.streak[node]++;
  const max_fails = upstream.config.nodes[node].max_fails;
  if (max_fails > 0 && counters.streak[node] >= max_fails) hold(upstream, node, now_ms + upstream.hold_ms);
}

/**
 * The node refused for load. It lives, so its row of failures is over; but it is to get less at once: its success share
 * falls as by a failure, and rises with the requests that it accepts.
 */
export function learnBusy(upstream: Upstream, node: number, now_ms: number): void {
  const pool = upstream.pool;
  const share = Math.min(Math.max(gain(upstream, node, 0, now_ms), FAILURE_GAIN), MAX_FAILURE_GAIN);
  pool.success[node] = floorSuccess(pool.success[node] * (1 - share));
  weigh(pool, node);
}

/**
 * Accounts one ended try, and weighs its node.
 * @param latency_ms time to first byte; of an aborted try, how long the client waited (0 = unknown)
 * @param live whether the live measurements still have to learn of it (a failed try before a retry has been learnt)
 */
export function accountTry(
  upstream: Upstream,
  node: number,
  outcome: Outcome,
  latency_ms: number,
  live: boolean,
  now_ms: number,
): void {
  countOutcome(upstream.counters, node, outcome, latency_ms);
  if (outcome === Outcome.Ok) {
    upstream.counters.streak[node] = 0;
    if (live) learnSuccess(upstream, node, latency_ms, now_ms);
  } else if (outcome === Outcome.Error) {
    if (live) learnFailure(upstream, node, true, now_ms);
    else {
      upstream.counters.streak[node] = 0;
      release(upstream, node);
    }
  } else if (outcome === Outcome.Busy) {
    upstream.counters.streak[node] = 0;
    if (live) learnBusy(upstream, node, now_ms);
    else release(upstream, node);
  } else if (outcome === Outcome.Fail) {
    if (live) learnFailure(upstream, node, false, now_ms);
  } else if (live) {
    learnAbort(upstream, node, latency_ms, now_ms);
  }
  weigh(upstream.pool, node);
}
