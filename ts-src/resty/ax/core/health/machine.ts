import type { NodeConfig, UpstreamConfig } from "../model";
import { type OperatorWill, willText } from "../operator";
import type { ProbeView } from "../probe/view";
import { secondsText } from "../reasons";
import { coolDownMs } from "./cool_down";
import { copy, enter, type Health, IN_ROTATION, type Seen } from "./record";
import { startRamp, startSlowly } from "./ramp";
import { STATES } from "./states";
import { degradedCause, ejectVerdict, starves, suspectCause, type Verdict, watch } from "./verdicts";

/**
 * The state machine of one node: pure, one look at a time. What may follow what is in transitions.ts, as data; the
 * words of docs/health.md are made of it, and specs hold the machine to it.
 *
 * n = ejections in a row. It falls by one for every `window_long_s` in rotation without trouble. Cool-downs grow with
 * it (cool_down.ts).
 */

/** A pending node without a verdict of its probes for so long goes on as if they had passed: our fault is not its own. */
export const PENDING_MAX_S = 60;

/** A trial without an outcome for so long is given up: another one is granted, or the node goes out again. */
export const TRIAL_TIMEOUT_MS = 10000;

/** A drain takes at least so long: by then every worker has heard of it, and said what it had in flight after that. */
const DRAIN_LEAST_MS = 2000;

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
  if (node.down) return health.state === "offline" ? health : enter(health, "offline", CONFIGURED_DOWN, now_ms);
  if (seen.will !== undefined) return obey(health, seen, seen.will, now_ms);
  if (STATES[health.state].by_operator) return startRamp(clear(health), backText(health), upstream, now_ms);
  if (health.forced === true) return enter(clear(health), "online", IN_ROTATION, now_ms);
  if (servesInPanic(health, seen)) return enter(clear(health), "online", BACK_IN_PANIC, now_ms);
  if (health.state === "pending") return admit(health, seen, upstream, now_ms);
  if (health.state === "ejected") return coolDown(health, seen, upstream, now_ms);
  if (health.state === "probing") return tryOut(health, seen, node, upstream, now_ms);
  let current = health;
  if (health.state === "ramping" && (health.until_ms === undefined || now_ms >= health.until_ms)) {
    current = enter(health, "online", IN_ROTATION, now_ms);
    current.clean_since_ms = now_ms;
  }
  return judge(watch(current, seen, upstream, now_ms), seen, node, upstream, now_ms);
}

const BACK_IN_PANIC = "back: it answers, and too few others are good";

/**
 * It was thrown out while the whole pool failed, and it answers again. Its cool-down, a trial and a ramp would leave the
 * load to those that were not thrown out, which may be too few to bear it (scenarios/all_fail.yaml).
 */
function servesInPanic(health: Health, seen: Seen): boolean {
  if (!seen.panic || (health.state !== "ejected" && health.state !== "probing")) return false;
  const answers = seen.picks_since_return > 0 && seen.ok_since_return > 0 && seen.failures === 0;
  return answers && seen.probe?.verdict !== "fail";
}

export const CONFIGURED_DOWN = "down in the configuration";

function backText(health: Health): string {
  return health.cause === CONFIGURED_DOWN ? "back in the configuration" : "given back by the operator";
}

/** What was held against it before the operator took it is of another time. */
function clear(health: Health): Health {
  const next = copy(health);
  next.forced = undefined;
  next.error_since_ms = undefined;
  next.silent_since_ms = undefined;
  return next;
}

function obey(health: Health, seen: Seen, will: OperatorWill, now_ms: number): Health {
  const cause = willText(will);
  if (will.kind === "force_up") {
    if (health.forced === true && health.cause === cause && health.until_ms === will.until_ms) return health;
    const since_ms = health.forced === true ? health.since_ms : now_ms;
    const next = enter(clear(health), "online", cause, since_ms, will.until_ms);
    next.forced = true;
    return next;
  }
  if (will.kind === "maintenance") return take(health, "maintenance", cause, will, now_ms);
  if (will.kind === "force_down") return take(health, "offline", cause, will, now_ms);
  return isDrained(health, seen, now_ms)
    ? take(health, "offline", `${cause}; nothing in flight any more`, will, now_ms)
    : take(health, "draining", cause, will, now_ms);
}

/** What is in flight is known of the last flush, and a worker that has not heard of the drain yet sends more. */
function isDrained(health: Health, seen: Seen, now_ms: number): boolean {
  if (health.state === "offline") return true;
  if (seen.in_flight > 0) return false;
  if (health.state === "draining") return now_ms - health.since_ms >= DRAIN_LEAST_MS;
  return health.state === "maintenance";
}

function take(
  health: Health,
  state: "maintenance" | "offline" | "draining",
  cause: string,
  will: OperatorWill,
  now_ms: number,
): Health {
  if (health.state !== state) return enter(health, state, cause, now_ms, will.until_ms);
  const same = health.cause === cause && health.until_ms === will.until_ms;
  return same ? health : enter(health, state, cause, health.since_ms, will.until_ms);
}

function admit(health: Health, seen: Seen, upstream: UpstreamConfig, now_ms: number): Health {
  if (seen.probe === undefined) return startSlowly(health, "new, and not probed any more", upstream, now_ms);
  const verdict = seen.probe.verdict;
  if (verdict === "pass") return startSlowly(health, "new, and its probes pass", upstream, now_ms);
  const waited_ms = now_ms - health.since_ms;
  if (verdict === "fail" || waited_ms < PENDING_MAX_S * 1000) return health;
  return startSlowly(health, `new; no verdict of its probes in ${secondsText(waited_ms)} s`, upstream, now_ms);
}

function coolDown(health: Health, seen: Seen, upstream: UpstreamConfig, now_ms: number): Health {
  const out = secondsText(now_ms - health.since_ms);
  if (health.by === "probe" && seen.probe !== undefined) {
    if (seen.probe.verdict !== "pass") return health;
    const cause = `back after ${out} s out: ${seen.probe.passed_in_row} passed probes in a row`;
    return startRamp(health, cause, upstream, now_ms);
  }
  if (health.until_ms !== undefined && now_ms < health.until_ms) return health;
  if (!upstream.return_trial) return startRamp(health, `back after ${out} s out`, upstream, now_ms);
  const probing = enter(health, "probing", `back after ${out} s out, on trial`, now_ms);
  return grantTrial(probing, seen.probe === undefined, now_ms);
}

/**
 * @param live by a user's request; else by a probe
 * @returns the record with one more trial granted: only one request at a time may take it
 */
function grantTrial(health: Health, live: boolean, now_ms: number): Health {
  const next = copy(health);
  next.live = live ? true : undefined;
  next.trial = health.trial + 1;
  next.trial_at_ms = now_ms;
  return next;
}

function tryOut(health: Health, seen: Seen, node: NodeConfig, upstream: UpstreamConfig, now_ms: number): Health {
  const probe = seen.probe;
  if (probe !== undefined && health.live !== true) return tryByProbe(health, probe, node, upstream, now_ms);
  if (probe?.verdict === "fail") {
    const text = `${probe.failed_in_row} failed probes in a row during its trial: ${probe.why}`;
    return eject(health, { by: "trial", text }, node, upstream, now_ms);
  }
  return tryLive(health, seen, node, upstream, now_ms);
}

function tryLive(health: Health, seen: Seen, node: NodeConfig, upstream: UpstreamConfig, now_ms: number): Health {
  // Requests of before the ejection may still end: no more count than it was picked since.
  const failed = Math.min(seen.failed_since_return, seen.picks_since_return);
  if (seen.ok_since_return > 0 && seen.picks_since_return > 0) {
    return startRamp(health, `${health.cause}: its request was answered`, upstream, now_ms);
  }
  if (failed > 0) return eject(health, { by: "trial", text: "its trial request failed" }, node, upstream, now_ms);
  if (now_ms - health.trial_at_ms < TRIAL_TIMEOUT_MS) return health;
  if (seen.picks_since_return <= 0 || seen.in_flight === 0) return grantTrial(health, true, now_ms);
  if (seen.silence_limit_ms < TRIAL_TIMEOUT_MS) {
    const text = `no answer to its trial request for ${secondsText(now_ms - health.trial_at_ms)} s`;
    return eject(health, { by: "trial", text }, node, upstream, now_ms);
  }
  // Requests are that long here, or nothing is known of how long they are: an open one is as good a sign as any.
  return startRamp(health, `${health.cause}: its request is under way, like those of other nodes`, upstream, now_ms);
}

/**
 * Users' requests threw it out, so one of them has the last word: the probes' path may work while the other one is stuck.
 * But it is not sent as long as probes fail: those cost nobody anything.
 */
function tryByProbe(
  health: Health,
  probe: ProbeView,
  node: NodeConfig,
  upstream: UpstreamConfig,
  now_ms: number,
): Health {
  if (probe.trial === "pass" && probe.verdict !== "fail") return grantTrial(health, true, now_ms);
  if (probe.trial === "fail") {
    return eject(health, { by: "trial", text: `its trial probe failed: ${probe.why}` }, node, upstream, now_ms);
  }
  return now_ms - health.trial_at_ms < TRIAL_TIMEOUT_MS ? health : grantTrial(health, false, now_ms);
}

function eject(health: Health, verdict: Verdict, node: NodeConfig, upstream: UpstreamConfig, now_ms: number): Health {
  // The breaker's time is the node's own, whatever closes it again.
  const is_breaker = verdict.by === "connections" || (verdict.by === "trial" && health.by === "connections");
  const ejections = health.ejections + 1;
  const next = enter(clear(health), "ejected", verdict.text, now_ms);
  next.by = is_breaker ? "connections" : verdict.by;
  next.ejections = ejections;
  next.clean_since_ms = now_ms;
  const base_s = is_breaker ? node.fail_timeout_s : upstream.cool_down_s;
  if (verdict.by !== "probe") {
    next.until_ms = now_ms + coolDownMs(base_s, ejections, upstream.cool_down_max_s, node.id);
  }
  return next;
}

function judge(health: Health, seen: Seen, node: NodeConfig, upstream: UpstreamConfig, now_ms: number): Health {
  const verdict = ejectVerdict(health, seen, node, upstream, now_ms);
  if (verdict !== undefined && seen.may_eject) return eject(health, verdict, node, upstream, now_ms);
  let current = health;
  if (verdict?.text !== health.kept) {
    current = copy(health);
    current.kept = verdict?.text;
  }
  return settle(sample(soften(current, seen, upstream, now_ms), seen, upstream, now_ms), upstream, now_ms);
}

/**
 * A node in rotation that failed, and that nobody sends anything to since, gets one request now and then. One that is
 * silent gets one, and no other before it has answered something: whether it does tells a stuck node from one whose
 * requests are long.
 */
function sample(health: Health, seen: Seen, upstream: UpstreamConfig, now_ms: number): Health {
  if (health.silent_since_ms !== undefined) return health.live === true ? health : grantTrial(health, true, now_ms);
  if (health.state === "ramping") return endTrial(health, seen);
  if (starves(health, seen, upstream, now_ms)) return grantTrial(health, true, now_ms);
  return endTrial(health, seen);
}

function endTrial(health: Health, seen: Seen): Health {
  if (health.live !== true || seen.judged === 0) return health;
  const next = copy(health);
  next.live = undefined;
  return next;
}

/** Between the states in rotation. A ramping node stays one: its share is low already. */
function soften(health: Health, seen: Seen, upstream: UpstreamConfig, now_ms: number): Health {
  if (health.state === "ramping") return health;
  const suspect = suspectCause(health, seen, upstream, now_ms);
  if (suspect !== undefined) {
    return health.state === "suspect" ? health : keepVerdict(health, enter(health, "suspect", suspect, now_ms));
  }
  const degraded = degradedCause(health, seen, now_ms);
  if (degraded !== undefined) {
    const until_ms = now_ms < seen.busy_until_ms && seen.probe?.slow !== true ? seen.busy_until_ms : undefined;
    if (health.state === "degraded" && (health.cause === degraded || until_ms === health.until_ms)) return health;
    if (health.state !== "degraded") return enter(health, "degraded", degraded, now_ms, until_ms);
    const next = enter(health, "degraded", degraded, health.since_ms, until_ms);
    return next;
  }
  return health.state === "online" ? health : enter(health, "online", IN_ROTATION, now_ms);
}

function keepVerdict(from: Health, to: Health): Health {
  to.kept = from.kept;
  return to;
}

/** Nothing against the node: a time without trouble takes back one ejection. */
function settle(health: Health, upstream: UpstreamConfig, now_ms: number): Health {
  const forgives =
    health.ejections > 0 &&
    health.error_since_ms === undefined &&
    health.kept === undefined &&
    now_ms - health.clean_since_ms >= upstream.window_long_s * 1000;
  if (!forgives) return health;
  const next = copy(health);
  next.ejections = health.ejections - 1;
  next.clean_since_ms = now_ms;
  return next;
}
