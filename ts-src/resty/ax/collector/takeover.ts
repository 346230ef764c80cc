import { coolDownMs } from "../core/health/cool_down";
import { type EjectedBy, enter, forgetSeen, newHealth } from "../core/health/record";
import { startSlowly } from "../core/health/ramp";
import { isUsable, stateNamed } from "../core/health/states";
import { causeOf } from "../core/health/text";
import { restoreNodeReport } from "../core/node_report";
import { clampScore } from "../core/score";
import { restore } from "../core/windows";
import { emitTransition, takeEvents } from "./events";
import { findGone } from "./gone";
import { breathe, type Collector, type NodeRecord, type UpstreamRecord } from "./state";
import { parseTally } from "./tally_text";
import { asCount, asNumber, asRecord } from "../core/values";

/**
 * What a collector takes over from the one before it (another worker, or the same one before a
 * reload): states, scores and totals from detail:<upstream>, whatever their age; the long windows from
 * windows:<upstream>, unless they are older than the window is long.
 */

/** Enough for the longest cool-down, whatever the first one is. */
const MANY_EJECTIONS = 32;

/** A text of a window takes as long as so many looks at a node. */
const PARSING = 8;

/** Takes over everything the store knows of the configured upstreams. Never throws; warns of what it cannot read. */
export function takeOver(collector: Collector, now_ms: number): void {
  const upstreams = collector.upstreams;
  for (let i = 0; i < upstreams.length; i++) {
    takeEvents(collector, upstreams[i], now_ms);
    const entry = readEntry(collector, `detail:${upstreams[i].config.name}`);
    upstreams[i].panic_since_ms = asNumber(entry?.panic_since_ms);
    upstreams[i].panics_total = asCount(entry?.panics_total);
    const details = asRecord(entry?.nodes);
    upstreams[i].gone = findGone(collector.deps, upstreams[i].config.name, upstreams[i].by_id, details, now_ms);
    if (details !== undefined) takeDetails(collector, upstreams[i], details, now_ms);
    takeWindows(collector, upstreams[i], now_ms);
  }
}

function readEntry(collector: Collector, key: string): Record<string, unknown> | undefined {
  const text = collector.deps.store.get(key);
  if (text === undefined) return undefined;
  const entry = asRecord(collector.deps.decode(`${text}`));
  if (asRecord(entry?.nodes) !== undefined) return entry;
  collector.deps.onWarning("store_corrupt", `${key} is unreadable; started afresh`);
  return undefined;
}

function takeDetails(
  collector: Collector,
  upstream: UpstreamRecord,
  details: Record<string, unknown>,
  now_ms: number,
): void {
  let known = 0;
  for (let i = 0; i < upstream.nodes.length; i++) if (details[upstream.nodes[i].config.id] !== undefined) known++;
  // A pool that is new for the most part has nobody to carry the load meanwhile.
  const few_are_new = known > 0 && upstream.nodes.length - known <= known;
  for (let i = 0; i < upstream.nodes.length; i++) {
    const node = upstream.nodes[i];
    const old = asRecord(details[node.config.id]);
    breathe(collector, 2);
    if (old !== undefined) {
      takeHealth(node, upstream, old, now_ms);
      takeScore(node, upstream, old, now_ms);
      if (upstream.config.orca) takeReports(node, old, now_ms);
      const rests = node.health.state === "maintenance";
      if (rests) collector.deps.probes?.rest(upstream.config.name, node.config.id, true);
    } else if (few_are_new && !node.config.down) {
      // Others are warm, this one is not: a share like theirs would be too much at once.
      const is_probed = collector.deps.probes?.view(upstream.config.name, node.config.id) !== undefined;
      node.health = is_probed
        ? enter(newHealth(now_ms), "pending", "new in the configuration; its probes have not passed yet", now_ms)
        : startSlowly(newHealth(now_ms), "new in the configuration", upstream.config, now_ms);
      forgetSeen(node.seen);
      emitTransition(collector, upstream, node, "new", now_ms);
    }
  }
}

function takeHealth(node: NodeRecord, upstream: UpstreamRecord, old: Record<string, unknown>, now_ms: number): void {
  const state = stateNamed(old.state);
  const until_ms = asNumber(old.until_ms);
  const by = typeof old.by === "string" ? (old.by as EjectedBy) : undefined;
  const has_end = until_ms !== undefined || (state === "ejected" && by === "probe");
  if (state === undefined || ((state === "ejected" || state === "ramping") && !has_end)) return;
  const health = newHealth(now_ms);
  health.state = state;
  if (typeof old.cause === "string") health.cause = old.cause;
  else if (typeof old.reason === "string") health.cause = causeOf(old.reason);
  health.since_ms = Math.min(now_ms, asNumber(old.since_ms) ?? now_ms);
  health.until_ms = until_ms;
  health.ejections = Math.floor(asCount(old.ejections));
  health.error_since_ms = asNumber(old.error_since_ms);
  health.silent_since_ms = asNumber(old.silent_since_ms);
  health.flat_until_ms = asNumber(old.flat_until_ms);
  health.by = by;
  health.forced = old.forced === true ? true : undefined;
  health.live = old.trial_live === true ? true : undefined;
  health.trial = asCount(old.trial);
  health.trial_at_ms = Math.min(now_ms, asNumber(old.trial_at_ms) ?? now_ms);
  node.health = health;
  node.seen.busy_until_ms = Math.min(asCount(old.busy_until_ms), now_ms + LONGEST_BUSY_MS);
  if (state === "ramping" || state === "ejected" || state === "probing") forgetSeen(node.seen);
  // What began under another configuration ends no later than what begins now.
  const longest_ms =
    state === "ramping" ? longestRampMs(health.flat_until_ms, upstream) : longestCoolDownMs(node, upstream);
  const bounded = state === "ramping" || state === "ejected";
  // The others' ends come from what is seen, or from the operator.
  health.until_ms = until_ms !== undefined && bounded ? Math.min(until_ms, now_ms + longest_ms) : undefined;
}

/** Retry-After is taken for no longer (ingest.ts). */
const LONGEST_BUSY_MS = 30000;

function longestRampMs(flat_until_ms: number | undefined, upstream: UpstreamRecord): number {
  const { ramp_s, slow_start_s } = upstream.config;
  return (flat_until_ms === undefined ? ramp_s : ramp_s + slow_start_s) * 1000;
}

function longestCoolDownMs(node: NodeRecord, upstream: UpstreamRecord): number {
  const { cool_down_s, cool_down_max_s } = upstream.config;
  const base_s = Math.max(cool_down_s, node.config.fail_timeout_s);
  return coolDownMs(base_s, MANY_EJECTIONS, cool_down_max_s, node.config.id);
}

function takeScore(node: NodeRecord, upstream: UpstreamRecord, old: Record<string, unknown>, now_ms: number): void {
  const detail = node.detail;
  detail.score = clampScore(asNumber(old.score) ?? 1, upstream.config);
  detail.target_score = detail.score;
  detail.score_at_ms = Math.min(now_ms, asNumber(old.score_at_ms) ?? now_ms);
  // The windows that led to it may be lost: they are written every few seconds only. For as long as they last.
  const in_rotation = isUsable(node.health.state);
  node.held_until_ms = in_rotation ? now_ms + upstream.config.window_long_s * 1000 : 0;
  detail.picks_total = asCount(old.picks_total);
  detail.ok_total = asCount(old.ok_total);
  detail.err_total = asCount(old.err_total);
  detail.fail_total = asCount(old.fail_total);
  detail.aborted_total = asCount(old.aborted_total);
  detail.busy_total = asCount(old.busy_total);
  node.answers_seen = detail.ok_total + detail.err_total + detail.busy_total;
  node.picks_before = detail.picks_total;
}

function takeReports(node: NodeRecord, old: Record<string, unknown>, now_ms: number): void {
  node.seen.report = restoreNodeReport(old.report, now_ms);
  const bad = asCount(old.reports_bad_total);
  if (bad > 0) node.detail.reports_bad_total = bad;
}

function takeWindows(collector: Collector, upstream: UpstreamRecord, now_ms: number): void {
  const entry = readEntry(collector, `windows:${upstream.config.name}`);
  const nodes = asRecord(entry?.nodes);
  const at_ms = asNumber(entry?.at_ms);
  if (nodes === undefined || at_ms === undefined) return;
  if (now_ms - at_ms > upstream.config.window_long_s * 1000) return;
  for (let i = 0; i < upstream.nodes.length; i++) {
    const node = upstream.nodes[i];
    const text = nodes[node.config.id];
    // Counts from before the node was ejected or came back are no evidence any more.
    const outdated = (node.health.state === "ramping" || !isUsable(node.health.state)) && node.health.since_ms >= at_ms;
    if (typeof text === "string" && !outdated && isUsable(node.health.state)) {
      restore(node.windows.long, parseTally(text, upstream.config.min_samples));
      breathe(collector, PARSING);
    }
  }
}
