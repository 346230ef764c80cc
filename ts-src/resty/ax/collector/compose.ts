import { reasonText } from "../core/health/text";
import { mergeInto, percentile } from "../core/histogram";
import { type NodeState, STATES } from "../core/health/states";
import { coveredMs, errorRate, isEmpty } from "../core/windows";
import { changesPerMinute } from "./events";
import { breathe, type Collector, type NodeRecord, type UpstreamRecord } from "./state";
import { tallyText } from "./tally_text";
import { round } from "../core/values";

/**
 * The texts that go into the store. Encoding is the dearest part of a tick: of a detail's 25 fields
 * several times as much as computing them. So what picks need is written anew for every node in every
 * tick, by hand; details and windows of many nodes take turns, a part in every tick.
 */

/**
 * Up to this many nodes over all upstreams have their details written anew in every tick: about 1 ms. With
 * more they take turns.
 */
const DETAILS_PER_TICK = 250;

/** Most ticks until every node had its turn and details are written, 2 s. A change of state is written at once. */
const DETAIL_TURNS = 4;

/** How often the long windows are written for a successor: what it may lose of them, against the cost of writing. */
const WINDOWS_EVERY_MS = 5000;

/**
 * Makes the bodies of snapshot:<upstream> and detail:<upstream>: without the head, which differs in every
 * tick, so that they can be written again as long as nothing happens.
 */
export function composeUpstream(collector: Collector, upstream: UpstreamRecord, now_ms: number): void {
  const nodes = upstream.nodes;
  const count = nodes.length;
  const turns = Math.min(DETAIL_TURNS, Math.ceil(collector.node_count / DETAILS_PER_TICK));
  const turn = Math.ceil(count / Math.max(1, turns));
  const end = upstream.detail_cursor + turn;
  for (let i = 0; i < count; i++) {
    const node = nodes[i];
    const is_its_turn = i >= upstream.detail_cursor && i < end;
    if (!node.described) upstream.detail_due = true;
    if (is_its_turn || !node.described) describe(collector, upstream, node, now_ms);
  }
  upstream.detail_cursor = end < count ? end : 0;
  if (upstream.detail_cursor === 0) upstream.detail_due = true;
  upstream.snapshot_body = snapshotBody(collector, upstream);
  if (!upstream.detail_due) return;
  upstream.detail_parts = detailParts(collector, upstream, now_ms);
}

/**
 * A Snapshot's nodes. Every field of a SnapshotNode is a plain number or a word: nothing to escape. Pieces
 * are joined once, numbers as they are: no strings in between.
 */
function snapshotBody(collector: Collector, upstream: UpstreamRecord): string {
  const parts: (string | number)[] = [upstream.panic_since_ms === undefined ? '"nodes":{' : '"panic":true,"nodes":{'];
  let end = 1;
  for (let i = 0; i < upstream.nodes.length; i++) {
    const { key, detail } = upstream.nodes[i];
    breathe(collector, 0.25);
    parts[end] = key;
    parts[end + 1] = STATE_TEXTS[detail.state];
    parts[end + 2] = detail.weight;
    parts[end + 3] = ',"static_weight":';
    parts[end + 4] = detail.static_weight;
    parts[end + 5] = ',"success":';
    parts[end + 6] = detail.success;
    end += 7;
    if (detail.latency_ms !== undefined) {
      parts[end] = ',"latency_ms":';
      parts[end + 1] = detail.latency_ms;
      end += 2;
    }
    if (detail.samples !== undefined) {
      parts[end] = ',"samples":';
      parts[end + 1] = detail.samples;
      end += 2;
    }
    if (detail.trial !== undefined) {
      parts[end] = ',"trial":';
      parts[end + 1] = detail.trial;
      end += 2;
    }
    if (detail.ramp_limit !== undefined) {
      parts[end] = ',"ramp_limit":';
      parts[end + 1] = detail.ramp_limit;
      end += 2;
    }
    if (detail.judged_p99_ms !== undefined) {
      parts[end] = ',"judged_p99_ms":';
      parts[end + 1] = detail.judged_p99_ms;
      end += 2;
    }
    parts[end] = "},";
    end++;
  }
  if (end > 1) parts[end - 1] = "}";
  parts[end] = "}}";
  return parts.join("");
}

const STATE_TEXTS = {} as Record<NodeState, string>;
for (const state in STATES) STATE_TEXTS[state as NodeState] = `:{"state":"${state}","weight":`;

/** With a place for the head. */
function detailParts(collector: Collector, upstream: UpstreamRecord, now_ms: number): string[] {
  const parts = ["", `${poolText(collector, upstream, now_ms)},"nodes":{`];
  for (let i = 0; i < upstream.nodes.length; i++) {
    parts[parts.length] = upstream.nodes[i].detail_text;
    parts[parts.length] = ",";
  }
  // In the place of the last comma, or of nothing.
  parts[upstream.nodes.length > 0 ? parts.length - 1 : parts.length] = "}}";
  return parts;
}

/** Brings a node's DetailNode and its text up to date. */
function describe(collector: Collector, upstream: UpstreamRecord, node: NodeRecord, now_ms: number): void {
  const { detail, health, windows } = node;
  const short = windows.short.total;
  const long = windows.long.total;
  detail.reason = reasonText(health, upstream.config, now_ms);
  detail.since_ms = health.since_ms;
  takeState(node);
  detail.share = upstream.picks > 0 ? round(short.picks / upstream.picks, 1e4) : 0;
  detail.requests_per_s = round(requestsPerS(node), 10);
  detail.error_rate = round(errorRate(short), 1e4);
  detail.p50_ms = short.ok > 0 ? round(percentile(short.hist, short.ok, 0.5), 10) : undefined;
  detail.p99_ms = short.ok > 0 ? round(percentile(short.hist, short.ok, 0.99), 10) : undefined;
  detail.p99_long_ms = long.ok > 0 ? round(percentile(long.hist, long.ok, 0.99), 10) : undefined;
  detail.report = node.seen.report;
  detail.probe = collector.deps.probes?.record(upstream.config.name, node.config.id);
  node.detail_text = `${node.key}:${collector.deps.encode(detail) ?? "{}"}`;
  node.described = true;
  // Twice the work of a look at it.
  breathe(collector, 2);
}

/** What the next collector takes over of the state. */
function takeState(node: NodeRecord): void {
  const { detail, health, seen } = node;
  detail.cause = health.cause;
  detail.until_ms = health.until_ms;
  detail.flat_until_ms = health.flat_until_ms;
  detail.ejections = health.ejections;
  detail.by = health.by;
  detail.forced = health.forced;
  detail.trial_live = health.live;
  detail.trial_at_ms = health.trial > 0 ? health.trial_at_ms : undefined;
  detail.error_since_ms = health.error_since_ms;
  detail.silent_since_ms = health.silent_since_ms;
  detail.busy_until_ms = seen.busy_until_ms > 0 ? seen.busy_until_ms : undefined;
}

function requestsPerS(node: NodeRecord): number {
  return (node.windows.short.total.picks * 1000) / coveredMs(node.windows.short);
}

/** The fields of a Detail that are about the upstream as a whole, but for the head's. */
function poolText(collector: Collector, upstream: UpstreamRecord, now_ms: number): string {
  const hist: number[] = [];
  let ok = 0;
  let requests_per_s = 0;
  for (let i = 0; i < upstream.nodes.length; i++) {
    const short = upstream.nodes[i].windows.short.total;
    breathe(collector, 0.5);
    if (short.ok > 0) mergeInto(hist, short.hist);
    ok += short.ok;
    requests_per_s += requestsPerS(upstream.nodes[i]);
  }
  const latencies =
    ok > 0 ? `,"p50_ms":${round(percentile(hist, ok, 0.5), 10)},"p99_ms":${round(percentile(hist, ok, 0.99), 10)}` : "";
  const summary = collector.deps.probes?.summary(upstream.config.name, now_ms);
  const probes = summary === undefined ? "" : `,"probes":${collector.deps.encode(summary) ?? "{}"}`;
  const changes = changesPerMinute(upstream.events, now_ms);
  const since_ms = upstream.panic_since_ms;
  const panic = `${since_ms === undefined ? "" : `,"panic_since_ms":${since_ms}`},"panics_total":${upstream.panics_total}`;
  const head = `"collector_pid":${collector.deps.pid},"requests_per_s":${round(requests_per_s, 10)}`;
  return `${head}${latencies},"state_changes_per_min":${changes}${panic}${probes}`;
}

/**
 * Brings the texts of the next part of an upstream's windows up to date.
 *
 * @returns the text for windows:<upstream> when every part had its turn, else undefined
 */
export function composeWindows(collector: Collector, upstream: UpstreamRecord, now_ms: number): string | undefined {
  const parts = Math.max(1, Math.floor(WINDOWS_EVERY_MS / collector.config.collector_interval_ms));
  const nodes = upstream.nodes;
  const part = upstream.windows_part % parts;
  const end = Math.floor((nodes.length * (part + 1)) / parts);
  for (let i = Math.floor((nodes.length * part) / parts); i < end; i++) {
    const node = nodes[i];
    const long = node.windows.long.total;
    node.windows_text = isEmpty(long) ? "" : `${node.key}:"${tallyText(long)}"`;
    breathe(collector, 6);
  }
  upstream.windows_part = part + 1;
  if (part + 1 < parts) return undefined;
  const texts = [`{"at_ms":${now_ms},"nodes":{`];
  for (let i = 0; i < nodes.length; i++) {
    if (nodes[i].windows_text === "") continue;
    if (texts.length > 1) texts[texts.length] = ",";
    texts[texts.length] = nodes[i].windows_text;
  }
  texts[texts.length] = "}}";
  return texts.join("");
}
