/**
 * The one serialiser of what the library knows: the API shows it, and whatever else reports on nodes
 * is to take it from here. Never empty without a reason: every configured node is there from the start.
 */
import type { NodeConfig, UpstreamConfig } from "../core/model";
import { formatAddress } from "../core/config/address";
import type { ProbeRecord } from "../core/probe/record";
import type { ProbeSummary } from "../core/probe/tally";
import type { Store } from "../core/store";
import { type AdmissionStatus, admissionStatus } from "./admission";
import { asCount, asNumber, asRecord } from "../core/values";
import { jsonList } from "./document";
import { hasWills, readWill, type WillStatus, willStatus } from "./wills";
import { type Detail, type DetailNode, WORKER_DEAD_MS, type WorkerRecord } from "../core/wire";
import { type AdaptiveStatus, type LimitStatus, limitStatus, nodeLimit, readAdaptive } from "./limits";

/** Data older than this is called stale: several collector intervals, or an election, went by. */
const STALE_MS = 5000;

export interface StatusDeps {
  store: Store;
  decode(this: void, text: string): unknown;
  processAlive(this: void, pid: number): boolean;
}

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
  totals: { picks: number; ok: number; err: number; fail: number; aborted: number; busy: number };
}

export interface UpstreamStatus {
  name: string;
  strategy: string;
  nodes_from: string;
  generation: number;
  /** Absent until the collector has run once. */
  data_age_ms?: number;
  collector_pid?: number;
  requests_per_s?: number;
  p50_ms?: number;
  p99_ms?: number;
  /** Too few good nodes: all are used (docs/health.md). */
  panic: boolean;
  panic_s?: number;
  panics_total: number;
  state_changes_per_min: number;
  /** Where keys come from, and the requests that had none; absent when no `hash_key` is configured. */
  hash_key?: string;
  keyless_picks?: number;
  /** How active checks went in the last one to two minutes; absent without them. */
  probes?: ProbeSummary;
  admission: AdmissionStatus;
  limits: LimitStatus;
  warnings: string[];
  nodes: NodeStatus[];
}

export interface WorkerStatus {
  pid: number;
  age_ms: number;
  exiting: boolean;
  in_flight: number;
}

function decodeObject(deps: StatusDeps, key: string): object | undefined {
  const text = deps.store.get(key);
  if (typeof text !== "string") return undefined;
  const value = deps.decode(text);
  return typeof value === "object" ? (value as object) : undefined;
}

/** Four decimals are more than any of these figures means. */
function rounded(value: number): number {
  return Math.floor(value * 10000 + 0.5) / 10000;
}

function seconds(from_ms: number, to_ms: number): number {
  return Math.floor(to_ms - from_ms) / 1000;
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

/** Picks that make it certain that outcomes are missing, not late. */
const PICKS_WITHOUT_OUTCOME = 20;

function hasPicksOnly(nodes: NodeStatus[]): boolean {
  let picks = 0;
  let outcomes = 0;
  let in_flight = 0;
  for (const { totals, in_flight: waiting } of nodes) {
    picks += totals.picks;
    outcomes += totals.ok + totals.err + totals.fail + totals.aborted + totals.busy;
    in_flight += waiting ?? 0;
  }
  return outcomes === 0 && picks - in_flight >= PICKS_WITHOUT_OUTCOME;
}

function oneNode(detail: Detail | undefined, given: NodeConfig, now_ms: number): NodeStatus {
  const node = detail?.nodes[given.id];
  return node === undefined ? withoutData(given) : withData(given, node, now_ms);
}

function showWill(deps: StatusDeps, upstream: string, shown: NodeStatus, now_ms: number): void {
  const will = readWill(deps.store, deps.decode, upstream, shown.id, now_ms);
  if (will !== undefined) shown.operator = willStatus(will, now_ms);
}

function showLimit(shown: NodeStatus, config: UpstreamConfig, given: NodeConfig, published: Adaptive): void {
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

/** What the collector says of the upstream as a whole. */
function showPool(status: UpstreamStatus, detail: Detail, now_ms: number): void {
  const age_ms = now_ms - detail.at_ms;
  status.data_age_ms = age_ms;
  status.collector_pid = detail.collector_pid;
  status.requests_per_s = detail.requests_per_s;
  status.p50_ms = detail.p50_ms;
  status.p99_ms = detail.p99_ms;
  status.probes = detail.probes;
  if (detail.panic_since_ms !== undefined) {
    status.panic_s = seconds(detail.panic_since_ms, now_ms);
    status.warnings.push("panic: too few nodes are good; all that the operator did not take out are used");
  }
  if (age_ms > STALE_MS) {
    status.warnings.push(`data is ${seconds(detail.at_ms, now_ms)} s old: the collector does not get through`);
  }
}

/** One upstream, all its configured nodes in the order of the configuration. */
export function upstreamStatus(deps: StatusDeps, config: UpstreamConfig, now_ms: number): UpstreamStatus {
  const detail = decodeObject(deps, `detail:${config.name}`) as Detail | undefined;
  const status: UpstreamStatus = {
    name: config.name,
    strategy: config.strategy_module ?? config.strategy,
    nodes_from: config.nodes_from,
    generation: detail?.generation ?? 0,
    admission: admissionStatus(deps, config, now_ms),
    limits: limitStatus(deps.store, config),
    panic: detail?.panic_since_ms !== undefined,
    panics_total: detail?.panics_total ?? 0,
    state_changes_per_min: detail?.state_changes_per_min ?? 0,
    warnings: [],
    nodes: [],
  };
  if (config.hash_key !== undefined) {
    status.hash_key = typeof config.hash_key === "string" ? config.hash_key : "function";
    const keyless = deps.store.get(`keyless:${config.name}`);
    status.keyless_picks = typeof keyless === "number" ? keyless : 0;
  }
  if (detail === undefined) {
    status.warnings.push("no data yet: no collector has reported (init_worker() missing, or the shared dict is full)");
  } else showPool(status, detail, now_ms);
  const adaptive = readAdaptive(deps.store, deps.decode, config);
  const has_wills = hasWills(deps.store, config.name);
  for (const given of config.nodes) {
    const shown = oneNode(detail, given, now_ms);
    if (has_wills) showWill(deps, config.name, shown, now_ms);
    showLimit(shown, config, given, adaptive);
    status.nodes.push(shown);
  }
  if (hasPicksOnly(status.nodes)) {
    status.warnings.push("no request has been accounted: log() does not run where this upstream is used (log_missing)");
  }
  status.warnings = jsonList(status.warnings);
  return status;
}

function total(record: WorkerRecord): number {
  let sum = 0;
  for (const [, nodes] of pairs(asRecord(record.in_flight) ?? {})) {
    for (const [, count] of pairs(asRecord(nodes) ?? {})) sum += asCount(count);
  }
  return sum;
}

/** The live workers, those of an older configuration that still serve requests included. */
export function workerStatus(deps: StatusDeps, now_ms: number): WorkerStatus[] {
  const workers: WorkerStatus[] = [];
  const slots = deps.store.get("worker:slots");
  for (let slot = 1; typeof slots === "number" && slot <= slots; slot++) {
    const record = decodeObject(deps, `worker:${slot}`) as WorkerRecord | undefined;
    if (record !== undefined && asNumber(record.pid) !== undefined && asNumber(record.at_ms) !== undefined) {
      const exiting = record.exiting === true;
      const alive = exiting ? deps.processAlive(record.pid) : Math.abs(now_ms - record.at_ms) < WORKER_DEAD_MS;
      if (alive) workers.push({ pid: record.pid, age_ms: now_ms - record.at_ms, exiting, in_flight: total(record) });
    }
  }
  return jsonList(workers);
}
