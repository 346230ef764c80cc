/** What the status shows of admission: waiting, waits, refusals, over all workers. */
import { addSparse, cleanSparse, newCounts, percentile } from "../core/histogram";
import type { UpstreamConfig } from "../core/model";
import { LOWEST_PRIORITY } from "../core/priority";
import { REJECT_REASONS } from "../core/reject";
import type { Store } from "../core/store";
import { asCount, asNumber, asRecord } from "../core/values";
import { drainKey, isDrainFresh, WORKER_DEAD_MS } from "../core/wire";
import { doorKey, lastSlot } from "../core/worker_keys";
import { jsonList } from "./document";
import type { StatusDeps } from "./status_deps";

/** Requests of one priority. */
export interface PriorityStatus {
  /** 1 (highest) … 5. */
  priority: number;
  waiting: number;
  /** Admitted in the last 30 to 60 s; their waits are told below, those that did not wait as 0. */
  admitted: number;
  wait_p50_ms?: number;
  wait_p99_ms?: number;
}

/** A backlog that is being worked off. */
export interface DrainStatus {
  /** Begun by the "operator", or by the "size" of the queue. */
  by: string;
  since_s: number;
  /** Priorities whose new requests are refused. */
  refuse: number[];
  /** Requests in flight beyond the limits. */
  extra: number;
}

export interface AdmissionStatus {
  /** Absent without a queue. */
  queue?: { size: number; timeout_ms: number; waiting: number; priorities: PriorityStatus[]; drain?: DrainStatus };
  /** Requests refused by access() since the shared dict was created, by reason; those that never occurred left out. */
  refused: Record<string, number>;
  /** Requests with a class that does not exist, and with one that they may not give themselves. */
  unknown_classes: number;
  capped_classes: number;
}

/** One priority over all workers, while it is added up. */
interface Sum {
  waiting: number;
  admitted: number;
  hist: number[];
}

function count(store: Store, key: string): number {
  return asCount(store.get(key));
}

function addReport(sums: Sum[], report: Record<string, unknown>): void {
  const waiting = asRecord(report["waiting"]) as unknown[] | undefined;
  const admitted = asRecord(report["admitted"]) as unknown[] | undefined;
  const waits = asRecord(report["waits"]) as unknown[] | undefined;
  for (let k = 0; k < LOWEST_PRIORITY; k++) {
    sums[k].waiting += asCount(waiting?.[k]);
    sums[k].admitted += asCount(admitted?.[k]);
    addSparse(sums[k].hist, cleanSparse(waits?.[2 * k]), 1);
    addSparse(sums[k].hist, cleanSparse(waits?.[2 * k + 1]), 1);
  }
}

function sumReports(deps: StatusDeps, name: string, now_ms: number): Sum[] {
  const sums: Sum[] = [];
  for (let k = 0; k < LOWEST_PRIORITY; k++) sums[k] = { waiting: 0, admitted: 0, hist: newCounts() };
  const slots = lastSlot(deps.store);
  for (let slot = 1; slot <= slots; slot++) {
    const text = deps.store.get(doorKey(slot));
    const record = typeof text === "string" ? asRecord(deps.decode(text)) : undefined;
    const at_ms = asNumber(record?.["at_ms"]);
    if (record !== undefined && at_ms !== undefined && Math.abs(now_ms - at_ms) < WORKER_DEAD_MS) {
      const report = asRecord(asRecord(record["upstreams"])?.[name]);
      if (report !== undefined) addReport(sums, report);
    }
  }
  return sums;
}

function priorityStatus(priority: number, sum: Sum): PriorityStatus {
  const status: PriorityStatus = { priority, waiting: sum.waiting, admitted: sum.admitted };
  if (sum.admitted > 0) {
    status.wait_p50_ms = percentile(sum.hist, sum.admitted, 0.5);
    status.wait_p99_ms = percentile(sum.hist, sum.admitted, 0.99);
  }
  return status;
}

function drainStatus(deps: StatusDeps, name: string, now_ms: number): DrainStatus | undefined {
  const text = deps.store.get(drainKey(name));
  const record = typeof text === "string" ? asRecord(deps.decode(text)) : undefined;
  if (!isDrainFresh(record, now_ms)) return undefined;
  const flags = asRecord(record?.["refuse"]) as unknown[] | undefined;
  const refuse: number[] = [];
  for (let k = 0; k < LOWEST_PRIORITY; k++) if (flags?.[k] === true) refuse.push(k + 1);
  return {
    by: record?.["by"] === "size" ? "size" : "operator",
    since_s: Math.floor(now_ms - (asNumber(record?.["since_ms"]) ?? now_ms)) / 1000,
    refuse: jsonList(refuse),
    extra: asCount(record?.["extra"]),
  };
}

/** Admission of one upstream. Of several priorities only those that occur are shown. */
export function admissionStatus(deps: StatusDeps, config: UpstreamConfig, now_ms: number): AdmissionStatus {
  const store = deps.store;
  const name = config.name;
  const refused: Record<string, number> = {};
  for (const reason of REJECT_REASONS) {
    const refusals = count(store, `refused:${reason}:${name}`);
    if (refusals > 0) refused[reason] = refusals;
  }
  const status: AdmissionStatus = {
    refused,
    unknown_classes: count(store, `classes:unknown:${name}`),
    capped_classes: count(store, `classes:capped:${name}`),
  };
  const queue = config.queue;
  if (queue === undefined) return status;
  const sums = sumReports(deps, name, now_ms);
  const priorities: PriorityStatus[] = [];
  let waiting = 0;
  for (let k = 0; k < LOWEST_PRIORITY; k++) {
    waiting += sums[k].waiting;
    if (sums[k].waiting + sums[k].admitted > 0) priorities.push(priorityStatus(k + 1, sums[k]));
  }
  status.queue = { size: queue.size, timeout_ms: queue.timeout_ms, waiting, priorities: jsonList(priorities) };
  status.queue.drain = drainStatus(deps, name, now_ms);
  return status;
}
