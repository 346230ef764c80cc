import type { UpstreamConfig } from "../model";
import { enter, type Health, IN_ROTATION, type Seen } from "./record";

/**
 * How a node comes (back) into the rotation, and what share of its weight its state leaves it.
 *
 * A node that was out ramps from `ramp_from` to 1 in `ramp_s`. One that is new to a running gateway first stays at
 * `slow_start_share` for `slow_start_s`: its caches are empty, its code is not compiled, and nobody knows it.
 */

/** A suspect's share: what `score_min` leaves a bad node by default. Enough to see it recover. */
const SUSPECT_SHARE = 0.2;

/** A slow node's share, where only its probes say so: users' own latencies lower the score besides. */
const SLOW_SHARE = 0.5;

/** A node that refuses (429, 503 with Retry-After) keeps the share that it accepts, within these. */
const BUSY_SHARE_MIN = 0.1;
const BUSY_SHARE_MAX = 0.5;

/** Room in flight for a ramping node beyond its share of what the others have: requests come in bunches. */
const RAMP_SLACK = 1.5;

/** A ramping node gets at least so many at a time: with less, one slow request would stop its return. */
const RAMP_LEAST = 2;

/**
 * Puts a node at the start of its ramp.
 *
 * @param cause why it comes (back), in words
 */
export function startRamp(health: Health, cause: string, upstream: UpstreamConfig, now_ms: number): Health {
  if (upstream.ramp_s <= 0) return enter(health, "online", IN_ROTATION, now_ms);
  const next = enter(health, "ramping", cause, now_ms, now_ms + upstream.ramp_s * 1000);
  next.error_since_ms = undefined;
  next.silent_since_ms = undefined;
  next.clean_since_ms = now_ms;
  return next;
}

/** Puts a node that is new to a running gateway at the start of its slow start. */
export function startSlowly(health: Health, cause: string, upstream: UpstreamConfig, now_ms: number): Health {
  if (upstream.slow_start_s <= 0) return startRamp(health, cause, upstream, now_ms);
  const flat_ms = now_ms + upstream.slow_start_s * 1000;
  const next = enter(health, "ramping", cause, now_ms, flat_ms + upstream.ramp_s * 1000);
  next.flat_until_ms = flat_ms;
  return next;
}

/** @returns share of its weight that the ramp leaves the node, 0..1; 1 when it does not ramp */
export function rampFactor(health: Health, upstream: UpstreamConfig, now_ms: number): number {
  if (health.state !== "ramping" || health.until_ms === undefined) return 1;
  const from = health.flat_until_ms === undefined ? upstream.ramp_from : upstream.slow_start_share;
  const begin_ms = health.flat_until_ms ?? health.since_ms;
  const length_ms = health.until_ms - begin_ms;
  if (length_ms <= 0) return now_ms < health.until_ms ? from : 1;
  const done = Math.max(0, Math.min(1, (now_ms - begin_ms) / length_ms));
  return from + (1 - from) * done;
}

/** @returns share of its weight that a node in rotation has by its state, 0..1 */
export function stateShare(health: Health, seen: Seen, upstream: UpstreamConfig, now_ms: number): number {
  const state = health.state;
  if (state === "ramping") return rampFactor(health, upstream, now_ms) * busyShare(seen, now_ms);
  if (state === "suspect") return SUSPECT_SHARE;
  if (state === "degraded") return busyShare(seen, now_ms) * (seen.probe?.slow === true ? SLOW_SHARE : 1);
  if (state === "online" || state === "offline") return 1;
  // Out: what it would come back with, for those that pick it all the same (panic).
  return upstream.ramp_from;
}

function busyShare(seen: Seen, now_ms: number): number {
  if (now_ms >= seen.busy_until_ms) return 1;
  return Math.max(BUSY_SHARE_MIN, Math.min(BUSY_SHARE_MAX, 1 - seen.busy_share));
}

/**
 * @param mean_in_flight what the nodes in rotation that do not ramp have in flight, on average
 * @returns most requests that a ramping node may have in flight, over all workers
 */
export function rampLimit(factor: number, mean_in_flight: number): number {
  return Math.max(RAMP_LEAST, Math.ceil(factor * mean_in_flight * RAMP_SLACK));
}
