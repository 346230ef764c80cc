import type { CheckKind, ProbeConfig } from "./config";
import { newProbeView, type ProbeVerdict, type ProbeView } from "./view";

/**
 * From the results of single checks to what is known of a node. TCP and HTTP each count rows of their own: that a port
 * still opens does not take back what the health page says.
 */

/** What one check found. */
export interface CheckResult {
  ok: boolean;
  /** In words, with the numbers. */
  why: string;
  /** From the begin of connecting to the end of the answer, ms. */
  took_ms: number;
  /** What the node says of itself, where it says something. */
  watermark?: number;
  queue_depth?: number;
  signals?: Record<string, number>;
}

/** Results of one kind in a row; one of the two is 0. */
export interface Row {
  verdict: ProbeVerdict;
  failed: number;
  passed: number;
  /** When the last one ended, monotonic ms; 0 = never. */
  at_ms: number;
}

/** One node's checks. Written by `record` alone. */
export interface NodeProbe {
  view: ProbeView;
  tcp: Row;
  http: Row;
  /** Passed HTTP checks that `normal_ms` was learnt from. */
  learnt: number;
  /** Their mean, recent ones counting more, ms. */
  normal_ms: number;
}

/** So many passes before anything is slow: the first ones pay for cold caches. */
export const MIN_LEARNT = 5;

/** Weight of a new sample: about the last ten checks count, 100 s by default. */
const LEARN_SHARE = 0.1;

/** Below it, times differ by the gateway's and the node's scheduling: 4 ms instead of 1 ms is not "slow". */
export const NORMAL_FLOOR_MS = 10;

/** After so many slow checks in a row (5 min by default) slow is the new normal: the health page does more now. */
export const RELEARN_AFTER = 30;

function newRow(): Row {
  return { verdict: "unknown", failed: 0, passed: 0, at_ms: 0 };
}

/** @returns a node that has never been checked */
export function newNodeProbe(): NodeProbe {
  return { view: newProbeView(), tcp: newRow(), http: newRow(), learnt: 0, normal_ms: 0 };
}

/** Nothing is known of the node any more but what its checks normally take. In place: the view is held by others. */
export function forgetProbe(probe: NodeProbe): void {
  const { view } = probe;
  const fresh = newProbeView();
  view.verdict = fresh.verdict;
  view.why = fresh.why;
  view.failed_in_row = 0;
  view.passed_in_row = 0;
  view.slow = false;
  view.slow_in_row = 0;
  view.watermark = undefined;
  view.queue_depth = undefined;
  view.signals = undefined;
  view.signals_at_ms = 0;
  view.at_ms = 0;
  view.trial = "none";
  probe.tcp = newRow();
  probe.http = newRow();
}

/** One check more. The first pass ever is enough, as nothing speaks against the node (as in Envoy). */
function count(row: Row, ok: boolean, config: ProbeConfig, now_ms: number): void {
  row.at_ms = now_ms;
  row.passed = ok ? row.passed + 1 : 0;
  row.failed = ok ? 0 : row.failed + 1;
  if (row.failed >= config.fails) row.verdict = "fail";
  else if (row.passed >= config.passes || (ok && row.verdict === "unknown")) row.verdict = "pass";
}

function learn(probe: NodeProbe, took_ms: number): void {
  probe.learnt++;
  const share = Math.max(LEARN_SHARE, 1 / probe.learnt);
  probe.normal_ms += (took_ms - probe.normal_ms) * share;
}

/** Slow checks are not learnt at once: else the node would be normal again as soon as it is slow for long. */
function timeOne(probe: NodeProbe, took_ms: number, config: ProbeConfig): void {
  const view = probe.view;
  const limit_ms = config.slow_ratio * Math.max(probe.normal_ms, NORMAL_FLOOR_MS);
  const is_slow = probe.learnt >= MIN_LEARNT && took_ms > limit_ms;
  view.slow_in_row = is_slow ? view.slow_in_row + 1 : 0;
  if (view.slow_in_row > RELEARN_AFTER) {
    view.slow_in_row = 0;
    probe.learnt = 0;
    learn(probe, took_ms);
  } else if (!is_slow) learn(probe, took_ms);
  view.slow = view.slow_in_row >= config.slow_checks;
  view.normal_ms = probe.learnt >= MIN_LEARNT ? Math.floor(probe.normal_ms * 10 + 0.5) / 10 : undefined;
}

/**
 * What both kinds say together: bad when one is, good when HTTP is (TCP, without HTTP).
 * @param probe its view is written
 */
export function conclude(probe: NodeProbe, config: ProbeConfig): void {
  const { view, tcp, http } = probe;
  const has_tcp = config.tcp_interval_s > 0;
  const has_http = config.http !== undefined;
  const tcp_passed = has_tcp ? tcp.passed : Infinity;
  const http_passed = has_http ? http.passed : Infinity;
  const passed = Math.min(tcp_passed, http_passed);
  view.passed_in_row = passed === Infinity ? 0 : passed;
  view.failed_in_row = Math.max(has_tcp ? tcp.failed : 0, has_http ? http.failed : 0);
  const main = has_http ? http : tcp;
  if ((has_tcp && tcp.verdict === "fail") || (has_http && http.verdict === "fail")) view.verdict = "fail";
  else view.verdict = main.verdict === "pass" ? "pass" : "unknown";
}

/**
 * Takes in one result.
 * @param now_ms when the check ended, monotonic ms
 */
export function record(
  probe: NodeProbe,
  kind: CheckKind,
  result: CheckResult,
  config: ProbeConfig,
  now_ms: number,
): void {
  const view = probe.view;
  const row = kind === "tcp" ? probe.tcp : probe.http;
  count(row, result.ok, config, now_ms);
  view.at_ms = now_ms;
  // What a failing kind says is not covered up by the other one's "connected".
  const other = kind === "tcp" ? probe.http : probe.tcp;
  if (!result.ok || other.failed === 0) view.why = result.why;
  if (kind === "http" || config.http === undefined) view.took_ms = result.took_ms;
  if (kind === "http" && result.ok) timeOne(probe, result.took_ms, config);
  // A failed check is no sign that the node is fast again: "slow" stays until one says so.
  if (result.watermark !== undefined || result.queue_depth !== undefined || result.signals !== undefined) {
    view.watermark = result.watermark;
    view.queue_depth = result.queue_depth;
    view.signals = result.signals;
    view.signals_at_ms = now_ms;
  }
  conclude(probe, config);
}
