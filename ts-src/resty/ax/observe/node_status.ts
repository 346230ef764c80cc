/** One node of an upstream, as the API and all other reports show it. */
import { formatAddress } from "../core/config/address";
import type { NodeConfig, UpstreamConfig } from "../core/model";
import type { NodeReport } from "../core/node_report";
import type { ProbeRecord } from "../core/probe/record";
import type { Detail, DetailNode } from "../core/wire";
import { type AdaptiveStatus, nodeLimit, readAdaptive } from "./limits";
import { decodeObject, rounded, seconds, type StatusDeps } from "./status_deps";
import { readWill, type WillStatus, willStatus } from "./wills";

/** A node, as shown. Fields without data are absent. */
export interface NodeStatus {
  id: string;
  address: string;
  state: string;
  reason: string;
  /** What an operator wants of it, from the moment on that the API has taken it; absent = nothing. */
  operator?: WillStatus;
  since_s?: number;
  until_s?: number;
  backup: boolean;
  base_weight: number;
  effective_weight: number;
  score?: number;
  target_score?: number;
  share?: number;
  in_flight?: number;
  requests_per_s?: number;
  p50_ms?: number;
  p99_ms?: number;
  p99_long_ms?: number;
  latency_ms?: number;
  error_rate?: number;
  ejections?: number;
  /** Requests that a half-open node may have: the number of the trial that is granted. */
  trial?: number;
  /** Most requests in flight while it ramps. */
  ramp_limit?: number;
  max_conns: number;
  /** Most requests in flight now; absent = no limit that refuses. */
  limit?: number;
  /** Where that is found by latency. */
  adaptive_limit?: AdaptiveStatus;
  max_fails: number;
  fail_timeout_s: number;
  labels: Record<string, string>;
  /** What active probes found; absent without them, and before the first check. */
  probe?: ProbeStatus;
  /** What it reported of its load with its answers; absent without the option `orca`, and before the first. */
  report?: ReportStatus;
  /** Its reports that could not be read; absent without any. */
  reports_bad?: number;
  totals: { picks: number; ok: number; err: number; fail: number; aborted: number; busy: number };
}

function withoutData(given: NodeConfig): NodeStatus {
  return {
    id: given.id,
    address: formatAddress(given),
    state: given.down ? "offline" : "online",
    reason: given.down ? "down in the configuration" : "no data yet: the collector has not reported on this node",
    backup: given.backup,
    base_weight: given.weight,
    effective_weight: given.weight,
    max_conns: given.max_conns,
    max_fails: given.max_fails,
    fail_timeout_s: given.fail_timeout_s,
    labels: given.labels,
    totals: { picks: 0, ok: 0, err: 0, fail: 0, aborted: 0, busy: 0 },
  };
}

/** What active probes found of a node, as shown. */
export interface ProbeStatus {
  verdict: string;
  why: string;
  age_s: number;
  failed_in_row: number;
  passed_in_row: number;
  slow: boolean;
  took_ms?: number;
  normal_ms?: number;
  watermark?: number;
  queue_depth?: number;
  signals?: Record<string, number>;
}

function probeStatus(probe: ProbeRecord, now_ms: number): ProbeStatus {
  return {
    verdict: probe.verdict,
    why: probe.why,
    age_s: seconds(probe.at_ms, now_ms),
    failed_in_row: probe.failed_in_row,
    passed_in_row: probe.passed_in_row,
    slow: probe.slow === true,
    took_ms: probe.took_ms,
    normal_ms: probe.normal_ms,
    watermark: probe.watermark,
    queue_depth: probe.queue_depth,
    signals: probe.signals,
  };
}

/** What a node reported of its load with its last answer, as shown. */
export interface ReportStatus {
  age_s: number;
  watermark?: number;
  watermark_of?: string;
  queue_depth?: number;
  signals: Record<string, number>;
}

function reportStatus(report: NodeReport, now_ms: number): ReportStatus {
  return {
    age_s: seconds(report.signals_at_ms, now_ms),
    watermark: report.watermark,
    watermark_of: report.watermark_of,
    queue_depth: report.queue_depth,
    signals: report.signals,
  };
}

function withData(given: NodeConfig, node: DetailNode, now_ms: number): NodeStatus {
  const status = withoutData(given);
  status.state = node.state;
  status.reason = node.reason;
  status.since_s = seconds(node.since_ms, now_ms);
  if (node.until_ms !== undefined) status.until_s = seconds(now_ms, node.until_ms);
  status.effective_weight = rounded(node.weight);
  status.score = rounded(node.score);
  status.target_score = rounded(node.target_score);
  status.share = rounded(node.share);
  status.in_flight = node.in_flight;
  status.requests_per_s = node.requests_per_s;
  status.p50_ms = node.p50_ms;
  status.p99_ms = node.p99_ms;
  status.p99_long_ms = node.p99_long_ms;
  status.latency_ms = node.latency_ms;
  status.error_rate = rounded(node.error_rate);
  status.ejections = node.ejections;
  if (node.probe !== undefined) status.probe = probeStatus(node.probe, now_ms);
  if (node.report !== undefined) status.report = reportStatus(node.report, now_ms);
  status.reports_bad = node.reports_bad_total;
  status.trial = node.trial;
  status.ramp_limit = node.ramp_limit;
  status.totals = {
    picks: node.picks_total,
    ok: node.ok_total,
    err: node.err_total,
    fail: node.fail_total,
    aborted: node.aborted_total,
    busy: node.busy_total,
  };
  return status;
}

/** The node without what operators want and what limits it: for those who show many. */
export function oneNode(detail: Detail | undefined, given: NodeConfig, now_ms: number): NodeStatus {
  const node = detail?.nodes[given.id];
  return node === undefined ? withoutData(given) : withData(given, node, now_ms);
}

/** Adds what an operator wants of the node. */
export function showWill(deps: StatusDeps, upstream: string, shown: NodeStatus, now_ms: number): void {
  const will = readWill(deps.store, deps.decode, upstream, shown.id, now_ms);
  if (will !== undefined) shown.operator = willStatus(will, now_ms);
}

/** Adds the limit of the node; `published` is what readAdaptive() gave. */
export function showLimit(shown: NodeStatus, config: UpstreamConfig, given: NodeConfig, published: Adaptive): void {
  const { limit, adaptive } = nodeLimit(config, given, published);
  shown.limit = limit;
  shown.adaptive_limit = adaptive;
}

type Adaptive = ReturnType<typeof readAdaptive>;

/** One node of an upstream. */
export function nodeStatus(deps: StatusDeps, config: UpstreamConfig, given: NodeConfig, now_ms: number): NodeStatus {
  const shown = oneNode(decodeObject(deps, `detail:${config.name}`) as Detail | undefined, given, now_ms);
  showWill(deps, config.name, shown, now_ms);
  showLimit(shown, config, given, readAdaptive(deps.store, deps.decode, config));
  return shown;
}
