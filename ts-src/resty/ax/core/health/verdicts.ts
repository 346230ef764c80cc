import type { NodeConfig, UpstreamConfig } from "../model";
import { errorRateText, percentText, secondsText, streakText } from "../reasons";
import { copy, type EjectedBy, type Health, type Seen } from "./record";

/** What is held against a node in rotation: enough to throw it out, or enough to send it less. */

/** Enough to throw a node out. */
export interface Verdict {
  by: EjectedBy;
  /** In words, with the numbers. */
  text: string;
}

/** Failures in a row that make a node suspect: one or two are an accident, three are a pattern. */
export const SUSPECT_AFTER = 3;

/** P99 against the typical node's: where a slow node begins to be called degraded, and where it ends. */
const SLOW_FROM = 3;
const SLOW_UNTIL = 2;

/** Requests that must be waiting before silence throws a node out: one may just be a long one. */
const SILENT_LEAST = 2;

/**
 * Picks since a node fell silent that tell as much as a trial: strategies that do not avoid it go on sending. That many
 * in a row being long by nature, while most of what the pool serves is answered soon, is no accident.
 */
const SILENT_PICKS = 10;

/**
 * Keeps `error_since_ms`. It takes `min_samples` to begin; from there on any evidence of the short window keeps it
 * running as long as the rate is over the limit, because adaptive picks leave a failing node few requests to be judged
 * by. No evidence at all ends it, except just after a takeover. Keeps `silent_since_ms` likewise.
 */
export function watch(health: Health, seen: Seen, upstream: UpstreamConfig, now_ms: number): Health {
  const over = seen.judged > 0 && seen.failed / seen.judged > upstream.eject_error_rate;
  const begins = over && health.error_since_ms === undefined && seen.judged >= upstream.min_samples;
  const unknown = seen.judged === 0 && seen.young;
  const ends = !over && !unknown && health.error_since_ms !== undefined;
  const silent = seen.oldest_ms > seen.silence_limit_ms;
  const silence_moves = silent !== (health.silent_since_ms !== undefined);
  if (!begins && !ends && !silence_moves) return health;
  const next = copy(health);
  if (begins || ends) {
    next.error_since_ms = begins ? now_ms : undefined;
    next.clean_since_ms = now_ms;
  }
  if (silence_moves) {
    next.silent_since_ms = silent ? now_ms - seen.oldest_ms : undefined;
    // Its trial was for this silence; the next one has its own.
    if (!silent) next.live = undefined;
  }
  return next;
}

/** @returns what throws the node out, or undefined */
export function ejectVerdict(
  health: Health,
  seen: Seen,
  node: NodeConfig,
  upstream: UpstreamConfig,
  now_ms: number,
): Verdict | undefined {
  return (
    probeVerdict(seen) ??
    connectionVerdict(health, seen, node, upstream, now_ms) ??
    errorVerdict(health, seen, upstream, now_ms) ??
    rowVerdict(health, seen, upstream, now_ms) ??
    silenceVerdict(health, seen, upstream, now_ms) ??
    (seen.host_out === undefined ? undefined : { by: "host", text: seen.host_out })
  );
}

function probeVerdict(seen: Seen): Verdict | undefined {
  const probe = seen.probe;
  if (probe?.verdict !== "fail") return undefined;
  return { by: "probe", text: `${probe.failed_in_row} failed probes in a row: ${probe.why}` };
}

/**
 * The breaker. A node just back has to prove itself: until it gave an answer, one failure is enough. Failures of
 * requests sent before it was ejected may still come in (time-outs), so no more count than it was picked. A node that
 * fails, and answers nothing for a short window, is out as well: adaptive picks send a failing node so little that
 * `max_fails` in a row would take minutes.
 */
function connectionVerdict(
  health: Health,
  seen: Seen,
  node: NodeConfig,
  upstream: UpstreamConfig,
  now_ms: number,
): Verdict | undefined {
  if (node.max_fails <= 0) return undefined;
  const streak = Math.min(seen.streak, seen.picks_since_return);
  if (streak >= node.max_fails) return { by: "connections", text: streakText(streak, node.max_fails) };
  if (health.state === "ramping" && !seen.answered_since_return && streak >= 1) {
    return { by: "connections", text: "no connection at the first try since its return" };
  }
  const lasted_ms = now_ms - health.since_ms;
  // Of `failures` none was followed by an answer; how long ago they were does not matter, as it does for `max_fails`.
  const failures = rowOf(seen);
  const dead = health.state === "suspect" && streak >= 1 && failures >= SUSPECT_AFTER && seen.failed === seen.judged;
  if (!dead || lasted_ms < upstream.window_short_s * 1000) return undefined;
  const text = `${failures} failures in a row, and no answer for ${secondsText(lasted_ms)} s`;
  return { by: "connections", text };
}

function errorVerdict(health: Health, seen: Seen, upstream: UpstreamConfig, now_ms: number): Verdict | undefined {
  if (health.error_since_ms === undefined || seen.judged === 0) return undefined;
  const for_ms = now_ms - health.error_since_ms;
  if (for_ms < upstream.eject_error_rate_for_s * 1000) return undefined;
  const rate = seen.failed / seen.judged;
  const text = errorRateText(rate, for_ms, upstream.eject_error_rate, upstream.eject_error_rate_for_s);
  return { by: "errors", text };
}

/** @returns failures of any kind with no answer in between, of tries since the node left the rotation or came back */
function rowOf(seen: Seen): number {
  return Math.min(seen.failures, seen.picks_since_return);
}

/**
 * A node that only fails soon gets so few requests that no window has enough of them to take a rate of. That nothing else
 * was seen of it all the time says as much, if there is something new: what failed long ago may have been a blip.
 */
function rowVerdict(health: Health, seen: Seen, upstream: UpstreamConfig, now_ms: number): Verdict | undefined {
  const for_ms = now_ms - health.since_ms;
  const only_fails = seen.failed > 0 && seen.failed === seen.judged && rowOf(seen) >= SUSPECT_AFTER;
  if (health.state !== "suspect" || !only_fails || for_ms < upstream.eject_error_rate_for_s * 1000) return undefined;
  return { by: "errors", text: `${rowOf(seen)} failures in a row, and nothing else for ${secondsText(for_ms)} s` };
}

/**
 * Whether picks leave a node that failed last so alone that nothing tells whether it still fails: then a request is sent
 * to it now and then, over all workers, to throw it out or to bring it back.
 */
export function starves(health: Health, seen: Seen, upstream: UpstreamConfig, now_ms: number): boolean {
  const pause_ms = upstream.window_short_s * 1000;
  const since_ms = Math.max(health.since_ms, health.trial_at_ms);
  return seen.judged === 0 && rowOf(seen) > 0 && now_ms - since_ms >= pause_ms;
}

/**
 * Whether the node was given something to answer after it fell silent, and did not. What it has had in flight since
 * before may be open by nature (two idle WebSockets, and nothing else to do): that proves nothing.
 */
function keptSilent(seen: Seen, now_ms: number): boolean {
  if (seen.silent_picks >= SILENT_PICKS) return true;
  return seen.trial_taken_ms > 0 && now_ms - seen.trial_taken_ms >= seen.silence_limit_ms;
}

function silenceVerdict(health: Health, seen: Seen, upstream: UpstreamConfig, now_ms: number): Verdict | undefined {
  if (health.silent_since_ms === undefined || seen.in_flight < SILENT_LEAST) return undefined;
  if (!keptSilent(seen, now_ms)) return undefined;
  const for_ms = now_ms - health.silent_since_ms;
  if (for_ms < upstream.eject_error_rate_for_s * 1000) return undefined;
  return { by: "silence", text: `no answer for ${secondsText(for_ms)} s to ${seen.in_flight} requests` };
}

/** @returns why the node is suspect, or undefined */
export function suspectCause(health: Health, seen: Seen, upstream: UpstreamConfig, now_ms: number): string | undefined {
  if (health.kept !== undefined) return health.kept;
  if (health.silent_since_ms !== undefined) {
    return `no answer for ${secondsText(seen.oldest_ms)} s (usual: under ${secondsText(seen.silence_limit_ms)} s)`;
  }
  if (health.error_since_ms !== undefined && seen.judged > 0) {
    const rate = percentText(seen.failed / seen.judged);
    return `error rate ${rate} % (limit ${percentText(upstream.eject_error_rate)} %)`;
  }
  const failures = rowOf(seen);
  if (failures >= SUSPECT_AFTER) return `${failures} failures in a row`;
  // Not at the first good answer: three of ten failing would move it to and fro many times a second.
  const settling = health.state === "suspect" && now_ms - health.since_ms < upstream.window_short_s * 1000;
  const failing = health.state === "suspect" && seen.failed > 0;
  return settling || failing ? health.cause : undefined;
}

function overloadText(seen: Seen): string | undefined {
  const watermark = seen.report?.watermark;
  if (!seen.overloaded || watermark === undefined) return undefined;
  return `reports to be ${percentText(watermark)} % busy (${seen.report?.watermark_of ?? "watermark"})`;
}

/** @returns why the node is degraded, or undefined */
export function degradedCause(health: Health, seen: Seen, now_ms: number): string | undefined {
  const probe = seen.probe;
  if (probe?.slow === true) {
    const took = Math.floor((probe.took_ms ?? 0) + 0.5);
    const normal = Math.floor((probe.normal_ms ?? 0) + 0.5);
    return `${probe.slow_in_row} slow probes in a row (${took} ms, normally ${normal} ms)`;
  }
  if (now_ms < seen.busy_until_ms) {
    if (health.state === "degraded" && health.until_ms !== undefined) return health.cause;
    return `asks for less load: ${percentText(seen.busy_share)} % refused with 429 or 503 and Retry-After`;
  }
  const is_slow = seen.p99_ratio >= SLOW_FROM || (health.state === "degraded" && seen.p99_ratio >= SLOW_UNTIL);
  if (!is_slow) return overloadText(seen);
  // The numbers move at every look; those that brought it here stay.
  if (health.state === "degraded" && health.until_ms === undefined) return health.cause;
  return `P99 ${Math.floor(seen.p99_ratio * 10 + 0.5) / 10} times the typical node's`;
}
