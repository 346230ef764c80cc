import type { NodeConfig, UpstreamConfig } from "./model";
import { draw, newRandom } from "./random";
import { errorRateText, percentText, secondsText, streakText } from "./reasons";
import type { NodeState } from "./health/states";

/**
 * When a node leaves the rotation and how it comes back. Passive: judged by users' requests alone.
 *
 * | from         | when                                                            | to      | for                            |
 * |--------------|-----------------------------------------------------------------|---------|--------------------------------|
 * | any          | `down` in the configuration                                     | down    | until the configuration differs |
 * | down         | no longer `down` in the configuration                           | ramping | `ramp_s`                       |
 * | online, ramping  | connection failures in a row ≥ `max_fails`                      | ejected | `fail_timeout_s` · 2^(n−1)     |
 * | ramping      | the first try since the return fails to connect (`max_fails` > 0) | ejected | `fail_timeout_s` · 2^(n−1)   |
 * | online, ramping  | error rate over `eject_error_rate` for `eject_error_rate_for_s` | ejected | `cool_down_s` · 2^(n−1)        |
 * | ejected      | time is over                                                    | ramping | `ramp_s`                       |
 * | ejected      | every node is out, and this one's time is over first            | ramping | `ramp_s`                       |
 * | ramping      | time is over                                                    | up      |                                |
 *
 * n = ejections in a row. It falls by one for every `window_long_s` in rotation without an ejection and
 * without too many errors. Cool-downs grow to at most `cool_down_max_s`, plus up to 5 % so that nodes
 * ejected together do not return together. The last node in rotation is never ejected.
 */
export interface Health {
  state: NodeState;
  /** What brought it into the state, in words. */
  cause: string;
  since_ms: number;
  /** When the state ends by itself (ejected, ramping). */
  until_ms?: number;
  /** Ejections in a row. */
  ejections: number;
  /** Since when the error rate has been over the limit. */
  error_since_ms?: number;
  /** From when the next long window without trouble counts. */
  clean_since_ms: number;
  /** Why it would be out if it were not the last one. */
  kept?: string;
}

/** What the collector saw of the node. */
export interface Seen {
  /** Connection failures in a row, over all workers. */
  streak: number;
  /** Times it was picked since it came back; Infinity when it never was out. */
  picks_since_return: number;
  /** Whether any answer, even a 5xx, arrived since it came back. */
  answered_since_return: boolean;
  /** Judged and failed tries in the short window. */
  judged: number;
  failed: number;
  /** The short window has not yet been collecting for its own length. */
  young: boolean;
  /** Other nodes of the upstream in rotation (up or ramping). */
  others_in_rotation: number;
}

/** Most of the jitter, as a share of the cool-down: unnoticed by people, enough to spread returns. */
const JITTER = 0.05;

/** `fail_timeout=0` is nginx's "within the same second". */
const SHORTEST_COOL_DOWN_S = 1;

const IN_ROTATION = "in rotation";

/** @returns the state of a node first seen now */
export function newHealth(now_ms: number): Health {
  return { state: "online", cause: IN_ROTATION, since_ms: now_ms, ejections: 0, clean_since_ms: now_ms };
}

/** @returns whether requests may go to it */
export function inRotation(health: Health): boolean {
  return health.state === "online" || health.state === "ramping";
}

/**
 * The state after one look at the node. Pure; returns the same record when nothing changed.
 *
 * @param seen evidence since the last look
 * @param now_ms monotonic ms
 */
export function transition(
  health: Health,
  seen: Seen,
  node: NodeConfig,
  upstream: UpstreamConfig,
  now_ms: number,
): Health {
  if (node.down)
    return health.state === "offline" ? health : enter(health, "offline", "down in the configuration", now_ms);
  if (health.state === "offline") return startRamp(health, "back in the configuration", upstream, now_ms);
  if (health.state === "ejected") {
    if (health.until_ms !== undefined && now_ms < health.until_ms) return health;
    return startRamp(health, `back after ${secondsText(now_ms - health.since_ms)} s out`, upstream, now_ms);
  }
  let current = health;
  if (health.state === "ramping" && (health.until_ms === undefined || now_ms >= health.until_ms)) {
    current = enter(health, "online", IN_ROTATION, now_ms);
  }
  return judge(watchErrors(current, seen, upstream, now_ms), seen, node, upstream, now_ms);
}

/**
 * Puts a node at the start of its ramp.
 *
 * @param cause why it comes (back), in words
 */
export function startRamp(health: Health, cause: string, upstream: UpstreamConfig, now_ms: number): Health {
  if (upstream.ramp_s <= 0) return enter(health, "online", IN_ROTATION, now_ms);
  return enter(health, "ramping", cause, now_ms, now_ms + upstream.ramp_s * 1000);
}

/** @returns share of its weight that the node's state leaves it, 0..1 */
export function rampFactor(health: Health, ramp_from: number, now_ms: number): number {
  if (health.state === "online" || health.state === "offline") return 1;
  if (health.state === "ejected" || health.until_ms === undefined) return ramp_from;
  const length_ms = health.until_ms - health.since_ms;
  if (length_ms <= 0) return 1;
  const done = Math.max(0, Math.min(1, (now_ms - health.since_ms) / length_ms));
  return ramp_from + (1 - ramp_from) * done;
}

/** Separates the cause from what moves with the time, in a reason's text. */
const CAUSE_END = "; ";

/** @returns why the node is in its state, in words, with the numbers */
export function reasonText(health: Health, upstream: UpstreamConfig, now_ms: number): string {
  let text = health.cause;
  if (health.state === "ramping") {
    text += `${CAUSE_END}${percentText(rampFactor(health, upstream.ramp_from, now_ms))} % of its share`;
  }
  if (health.kept !== undefined) {
    text += `${CAUSE_END}kept as the last node in rotation in spite of ${health.kept}`;
  } else if (health.error_since_ms !== undefined) {
    const lasted = secondsText(now_ms - health.error_since_ms);
    text += `${CAUSE_END}error rate over ${percentText(upstream.eject_error_rate)} % for ${lasted} s`;
  }
  return text;
}

/** @returns the cause in a reason's text: what the next collector takes over */
export function causeOf(reason: string): string {
  const end = reason.indexOf(CAUSE_END);
  return end < 0 ? reason : reason.substring(0, end);
}

/**
 * @param base_s the first cool-down, seconds
 * @param ejections in a row, this one included
 * @param max_s longest cool-down; one that begins longer stays as it is
 * @param id the node: gives the jitter, so that equal histories replay equally
 * @returns ms
 */
export function coolDownMs(base_s: number, ejections: number, max_s: number, id: string): number {
  const first_s = Math.max(SHORTEST_COOL_DOWN_S, base_s);
  const grown_s = Math.min(first_s * 2 ** Math.min(ejections - 1, 32), Math.max(max_s, first_s));
  let seed = ejections;
  for (let i = 0; i < id.length; i++) seed = (seed * 31 + id.charCodeAt(i)) % 2147483647;
  return Math.floor(grown_s * 1000 * (1 + JITTER * draw(newRandom(seed))));
}

function enter(health: Health, state: NodeState, cause: string, now_ms: number, until_ms?: number): Health {
  return { state, cause, since_ms: now_ms, until_ms, ejections: health.ejections, clean_since_ms: now_ms };
}

function copy(health: Health): Health {
  return {
    state: health.state,
    cause: health.cause,
    since_ms: health.since_ms,
    until_ms: health.until_ms,
    ejections: health.ejections,
    error_since_ms: health.error_since_ms,
    clean_since_ms: health.clean_since_ms,
    kept: health.kept,
  };
}

/**
 * Keeps `error_since_ms`. It takes `min_samples` to begin; from there on any evidence of the short
 * window keeps it running as long as the rate is over the limit, because adaptive picks leave a failing
 * node few requests to be judged by. No evidence at all ends it, except just after a takeover.
 */
function watchErrors(health: Health, seen: Seen, upstream: UpstreamConfig, now_ms: number): Health {
  const over = seen.judged > 0 && seen.failed / seen.judged > upstream.eject_error_rate;
  const begins = over && health.error_since_ms === undefined && seen.judged >= upstream.min_samples;
  const unknown = seen.judged === 0 && seen.young;
  const ends = !over && !unknown && health.error_since_ms !== undefined;
  if (!begins && !ends) return health;
  const next = copy(health);
  next.error_since_ms = begins ? now_ms : undefined;
  next.clean_since_ms = now_ms;
  return next;
}

function judge(health: Health, seen: Seen, node: NodeConfig, upstream: UpstreamConfig, now_ms: number): Health {
  const streak = streakVerdict(health, seen, node);
  const verdict = streak ?? errorVerdict(health, seen, upstream, now_ms);
  if (verdict === undefined) return settle(health, upstream, now_ms);
  if (seen.others_in_rotation <= 0) {
    if (health.kept === verdict) return health;
    const kept = copy(health);
    kept.kept = verdict;
    return kept;
  }
  const base_s = streak === undefined ? upstream.cool_down_s : node.fail_timeout_s;
  const ejections = health.ejections + 1;
  const next = enter(health, "ejected", verdict, now_ms);
  next.until_ms = now_ms + coolDownMs(base_s, ejections, upstream.cool_down_max_s, node.id);
  next.ejections = ejections;
  return next;
}

/**
 * A node just back has to prove itself: until it gave an answer, one failure is enough. Failures of
 * requests sent before it was ejected may still come in (time-outs), so no more count than it was picked.
 */
function streakVerdict(health: Health, seen: Seen, node: NodeConfig): string | undefined {
  if (node.max_fails <= 0) return undefined;
  const on_probation = health.state === "ramping" && !seen.answered_since_return;
  const limit = on_probation ? 1 : node.max_fails;
  const streak = Math.min(seen.streak, seen.picks_since_return);
  if (streak < limit) return undefined;
  return streak < node.max_fails
    ? "no connection at the first try since its return"
    : streakText(streak, node.max_fails);
}

function errorVerdict(health: Health, seen: Seen, upstream: UpstreamConfig, now_ms: number): string | undefined {
  if (health.error_since_ms === undefined || seen.judged === 0) return undefined;
  const for_ms = now_ms - health.error_since_ms;
  if (for_ms < upstream.eject_error_rate_for_s * 1000) return undefined;
  const rate = seen.failed / seen.judged;
  return errorRateText(rate, for_ms, upstream.eject_error_rate, upstream.eject_error_rate_for_s);
}

/** Nothing against the node: a time without trouble takes back one ejection. */
function settle(health: Health, upstream: UpstreamConfig, now_ms: number): Health {
  const forgives =
    health.ejections > 0 &&
    health.error_since_ms === undefined &&
    now_ms - health.clean_since_ms >= upstream.window_long_s * 1000;
  if (!forgives && health.kept === undefined) return health;
  const next = copy(health);
  next.kept = undefined;
  if (forgives) {
    next.ejections = health.ejections - 1;
    next.clean_since_ms = now_ms;
  }
  return next;
}
