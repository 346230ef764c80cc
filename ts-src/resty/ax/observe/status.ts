/**
 * The one serialiser of what the library knows: the API shows it, and whatever else reports on nodes
 * is to take it from here. Never empty without a reason: every configured node is there from the start.
 */
import type { UpstreamConfig } from "../core/model";
import type { ProbeSummary } from "../core/probe/tally";
import type { Detail } from "../core/wire";
import { type AdmissionStatus, admissionStatus } from "./admission";
import { jsonList } from "./document";
import { type LimitStatus, limitStatus, readAdaptive } from "./limits";
import { type NodeStatus, oneNode, showLimit, showWill } from "./node_status";
import { decodeObject, seconds, type StatusDeps } from "./status_deps";
import { hasWills } from "./wills";

/** Data older than this is called stale: several collector intervals (one and a half of the longest), or an election, went by. */
const STALE_MS = 7500;

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
