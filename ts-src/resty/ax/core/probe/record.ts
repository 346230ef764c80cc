import { asCount, asNumber, asRecord } from "../values";
import type { ProbeConfig } from "./config";
import { conclude, MIN_LEARNT, type NodeProbe, type Row } from "./results";

/**
 * What is published of a node's probes, as part of its DetailNode: for the status API, and for the next collector, which
 * goes on from it. Short: it is written for every node.
 */
export interface ProbeRecord {
  verdict: string;
  why: string;
  failed_in_row: number;
  passed_in_row: number;
  slow?: boolean;
  slow_in_row?: number;
  took_ms?: number;
  normal_ms?: number;
  watermark?: number;
  queue_depth?: number;
  signals?: Record<string, number>;
  signals_at_ms?: number;
  at_ms: number;
  tcp?: RowRecord;
  http?: RowRecord;
}

interface RowRecord {
  verdict: string;
  failed: number;
  passed: number;
  at_ms: number;
}

/** A result counts for so many intervals; older ones say nothing any more. */
const FRESH_INTERVALS = 5;

function rowRecord(row: Row): RowRecord | undefined {
  return row.at_ms === 0
    ? undefined
    : { verdict: row.verdict, failed: row.failed, passed: row.passed, at_ms: row.at_ms };
}

/** @returns what is to be published; undefined before the first check */
export function probeRecord(probe: NodeProbe): ProbeRecord | undefined {
  const view = probe.view;
  if (view.at_ms === 0) return undefined;
  const out: ProbeRecord = {
    verdict: view.verdict,
    why: view.why,
    failed_in_row: view.failed_in_row,
    passed_in_row: view.passed_in_row,
    took_ms: view.took_ms,
    normal_ms: view.normal_ms,
    at_ms: view.at_ms,
    tcp: rowRecord(probe.tcp),
    http: rowRecord(probe.http),
  };
  if (view.slow_in_row > 0 || view.slow) {
    out.slow = view.slow;
    out.slow_in_row = view.slow_in_row;
  }
  if (view.signals_at_ms > 0) {
    out.watermark = view.watermark;
    out.queue_depth = view.queue_depth;
    out.signals = view.signals;
    out.signals_at_ms = view.signals_at_ms;
  }
  return out;
}

function restoreRow(row: Row, old: unknown, interval_s: number, now_ms: number): boolean {
  const given = asRecord(old);
  const at_ms = asNumber(given?.at_ms);
  if (given === undefined || at_ms === undefined || at_ms <= 0 || at_ms > now_ms) return false;
  if (now_ms - at_ms > FRESH_INTERVALS * interval_s * 1000) return false;
  const verdict = given.verdict;
  if (verdict !== "pass" && verdict !== "fail" && verdict !== "unknown") return false;
  row.verdict = verdict;
  row.failed = Math.floor(asCount(given.failed));
  row.passed = Math.floor(asCount(given.passed));
  row.at_ms = at_ms;
  return true;
}

function restoreSignals(probe: NodeProbe, given: Record<string, unknown>, now_ms: number): void {
  const view = probe.view;
  const at_ms = asNumber(given.signals_at_ms);
  if (at_ms === undefined || at_ms > now_ms) return;
  view.signals_at_ms = at_ms;
  view.watermark = asNumber(given.watermark);
  view.queue_depth = asNumber(given.queue_depth);
  const old = asRecord(given.signals);
  if (old === undefined) return;
  const signals: Record<string, number> = {};
  for (const name in old) {
    const value = asNumber(old[name]);
    if (value !== undefined) signals[name] = value;
  }
  view.signals = signals;
}

/**
 * Goes on where the collector before left off, unless that is long ago.
 * @param detail the node's entry in detail:<upstream>, as read from the store: not trusted
 * @param now_ms monotonic ms
 */
export function restoreProbe(probe: NodeProbe, detail: unknown, config: ProbeConfig, now_ms: number): void {
  const given = asRecord(asRecord(detail)?.probe);
  if (given === undefined) return;
  const has_http = config.http !== undefined;
  const tcp = config.tcp_interval_s > 0 && restoreRow(probe.tcp, given.tcp, config.tcp_interval_s, now_ms);
  const http = has_http && restoreRow(probe.http, given.http, config.http?.interval_s ?? 0, now_ms);
  const normal_ms = asNumber(given.normal_ms);
  if (has_http && normal_ms !== undefined && normal_ms >= 0) {
    probe.normal_ms = normal_ms;
    probe.learnt = MIN_LEARNT;
    probe.view.normal_ms = normal_ms;
  }
  if (!tcp && !http) return;
  const view = probe.view;
  // By the rows that are left: a kind that is not configured any more does not go on counting.
  conclude(probe, config);
  view.at_ms = Math.max(probe.tcp.at_ms, probe.http.at_ms);
  if (typeof given.why === "string") view.why = given.why;
  view.took_ms = asNumber(given.took_ms);
  view.slow = has_http && given.slow === true;
  view.slow_in_row = has_http ? Math.floor(asCount(given.slow_in_row)) : 0;
  restoreSignals(probe, given, now_ms);
}
