import { causeOf, coolDownMs, inRotation, newHealth, startRamp } from "../core/ejection";
import { stateNamed } from "../core/health/states";
import { clampScore } from "../core/score";
import { restore } from "../core/windows";
import { type Collector, forgetSeen, type NodeRecord, type UpstreamRecord } from "./state";
import { parseTally } from "./tally_text";
import { asCount, asNumber, asRecord } from "../core/values";

/**
 * What a collector takes over from the one before it (another worker, or the same one before a
 * reload): states, scores and totals from detail:<upstream>, whatever their age; the long windows from
 * windows:<upstream>, unless they are older than the window is long.
 */

/** Enough for the longest cool-down, whatever the first one is. */
const MANY_EJECTIONS = 32;

/** Takes over everything the store knows of the configured upstreams. Never throws; warns of what it cannot read. */
export function takeOver(collector: Collector, now_ms: number): void {
  const upstreams = collector.upstreams;
  for (let i = 0; i < upstreams.length; i++) {
    const details = readNodes(collector, `detail:${upstreams[i].config.name}`);
    if (details !== undefined) takeDetails(upstreams[i], details, now_ms);
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

function readNodes(collector: Collector, key: string): Record<string, unknown> | undefined {
  return asRecord(readEntry(collector, key)?.nodes);
}

function takeDetails(upstream: UpstreamRecord, details: Record<string, unknown>, now_ms: number): void {
  const has_history = Object.keys(details).length > 0;
  for (let i = 0; i < upstream.nodes.length; i++) {
    const node = upstream.nodes[i];
    const old = asRecord(details[node.config.id]);
    if (old !== undefined) {
      takeHealth(node, upstream, old, now_ms);
      takeScore(node, upstream, old, now_ms);
    } else if (has_history) {
      // Others are warm, this one is not: a share like theirs would be too much at once.
      node.health = startRamp(newHealth(now_ms), "new in the configuration", upstream.config, now_ms);
      forgetSeen(node.seen);
    }
  }
}

function takeHealth(node: NodeRecord, upstream: UpstreamRecord, old: Record<string, unknown>, now_ms: number): void {
  const state = stateNamed(old.state);
  const until_ms = asNumber(old.until_ms);
  if (state === undefined || ((state === "ejected" || state === "ramping") && until_ms === undefined)) return;
  // An operator's will is read anew; what the node was beneath it is not known.
  if (state === "draining" || state === "maintenance") return;
  const health = newHealth(now_ms);
  health.state = state;
  if (typeof old.reason === "string") health.cause = causeOf(old.reason);
  health.since_ms = Math.min(now_ms, asNumber(old.since_ms) ?? now_ms);
  health.until_ms = until_ms;
  health.ejections = Math.floor(asCount(old.ejections));
  health.error_since_ms = asNumber(old.error_since_ms);
  node.health = health;
  if (state === "ramping" || state === "ejected") forgetSeen(node.seen);
  // What began under another configuration ends no later than what begins now.
  const longest_ms = state === "ramping" ? upstream.config.ramp_s * 1000 : longestCoolDownMs(node, upstream);
  if (until_ms !== undefined) health.until_ms = Math.min(until_ms, now_ms + longest_ms);
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
  const in_rotation = inRotation(node.health);
  node.held_until_ms = in_rotation ? now_ms + upstream.config.window_long_s * 1000 : 0;
  detail.picks_total = asCount(old.picks_total);
  detail.ok_total = asCount(old.ok_total);
  detail.err_total = asCount(old.err_total);
  detail.fail_total = asCount(old.fail_total);
  detail.aborted_total = asCount(old.aborted_total);
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
    const outdated = node.health.state !== "online" && node.health.since_ms >= at_ms;
    if (typeof text === "string" && !outdated && node.health.state !== "ejected") {
      restore(node.windows.long, parseTally(text, upstream.config.min_samples));
    }
  }
}
