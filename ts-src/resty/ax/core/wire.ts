import type { NodeState } from "./health/states";
import type { NodeReport } from "./node_report";
import type { ProbeRecord } from "./probe/record";
import type { ProbeSummary } from "./probe/tally";
import { asNumber } from "./values";

/**
 * What crosses the shared store, and under which keys. Everything is keyed by node identity,
 * never by index, so that workers of the old and the new configuration understand each other
 * during a reload. Times are monotonic milliseconds of this machine: comparable over processes,
 * untouched by clock steps.
 *
 * | key | written by | read by | lives |
 * |---|---|---|---|
 * | deltas (list)         | every worker, each flush      | collector         | until read; bounded by DELTAS_MAX |
 * | worker:<slot>         | its worker, each flush        | every worker      | dead when `at_ms` is older than WORKER_DEAD_MS |
 * | worker:slots          | a worker taking a new slot; collector | every worker | for ever (one number): the last slot taken |
 * | generation            | collector, each publish       | every worker      | for ever (one number) |
 * | snapshot:<upstream>   | collector, each publish       | every worker      | over reloads and elections |
 * | detail:<upstream>     | collector, each publish       | status API        | over reloads and elections |
 * | windows:<upstream>    | collector, every few seconds  | the next collector | over reloads and elections |
 * | collector:term, collector:lease:<term> | candidates for collector | every worker | see collector/election.ts |
 * | operator:<upstream>   | API, each change of a will    | collector, API    | for ever (one number an upstream) |
 * | operator:<upstream>\n<node> | API, each change     | collector, API    | until taken back (operator.ts) |
 * | door:<slot>           | its worker, each flush        | status API        | dead when `at_ms` is old (dataplane/door_exchange.ts) |
 * | line:<slot>:<upstream> | its worker, while it has waiters | every worker   | see dataplane/line_exchange.ts |
 * | backlog:<upstream>, drain:<upstream> | API; collector | collector, workers  | see collector/backlog.ts |
 * | limits:<upstream>     | collector, when one moves     | every worker, status API | see collector/adaptive_limit.ts |
 * | refused:<reason>:<upstream>, classes:… | every worker, each flush | status API | for ever (one number each) |
 * | event:<upstream>:<n>, events:<upstream> | collector, each change of state | status API, the next collector | the last EVENTS_MAX; for ever (one number) |
 * | transitions:<upstream> | collector, each change of state | status API, the next collector | for ever |
 * | trial:<upstream> <node> <n> | the worker that takes the trial | workers | removed by the collector when the trial is over |
 * | upstreams             | collector, when it begins     | the next collector | for ever (collector/gone_upstreams.ts) |
 * | keyless:<upstream>    | every worker, each flush      | status API        | for ever (one number an upstream) |
 * | errors:<code>         | every worker                  | status API        | for ever (one number a code) |
 * | error:<code>          | every worker                  | status API        | the last message of that code |
 */

/** Entries of the `deltas` list past which workers drop the oldest: the collector is not reading. */
export const DELTAS_MAX = 2048;

/** `worker:<slot>` records looked at: more workers than any gateway runs, old ones during reloads included. */
export const SLOTS_MAX = 1024;

/** A worker whose record is older than this is dead: its in-flight counts no longer count. */
export const WORKER_DEAD_MS = 1500;

/** What happened at one node since the worker's last flush. Absent fields are 0 or empty. */
export interface NodeDelta {
  /** Times the node was picked. */
  picks: number;
  /** Tries answered, and not with a 5xx. */
  ok: number;
  /** Tries answered with a 5xx. */
  err: number;
  /** Tries without an answer: refused, reset, timed out. */
  fail: number;
  /** Tries ended by the client: nobody's fault, not judged. */
  aborted: number;
  /** Sum of the latencies (time to first byte) of the `ok` tries, ms. */
  sum_ms: number;
  /** Latencies of the `ok` tries as a sparse histogram: bucket, count, bucket, count, … (core/histogram.ts). */
  hist: number[];
  /** Failures without an answer in a row, as this worker saw them last; 0 after any answer. */
  streak: number;
  /** Failures of any kind in a row, as this worker saw them last; 0 after any answer but a 5xx. */
  failures: number;
  /** Tries refused for load (429, 503 with Retry-After): neither ok nor failed. */
  busy: number;
  /** The longest Retry-After among them, ms. */
  retry_after_ms: number;
  /** The last load report that the node sent with an answer, as received (core/node_report.ts). */
  report?: string;
}

/** One flush of one worker: upstream → node → what happened. */
export interface Delta {
  pid: number;
  at_ms: number;
  upstreams: Record<string, Record<string, NodeDelta>>;
}

/** A worker's sign of life, and its requests in flight: upstream → node → count (zeros left out). */
export interface WorkerRecord {
  pid: number;
  at_ms: number;
  /** The worker is shutting down and flushes only when a request ends; judge it by its process. */
  exiting?: boolean;
  in_flight: Record<string, Record<string, number>>;
  /** Of those, the ones that last long by their nature (streams): they keep a node, and keep it little busy. */
  long?: Record<string, Record<string, number>>;
  /** Upstream → node → start of the oldest request that waits there for long already, monotonic ms. */
  oldest_ms?: Record<string, Record<string, number>>;
}

/** One worker's queue for one upstream, and how long requests waited in it of late; lists by priority − 1. */
export interface DoorReport {
  waiting: number[];
  admitted: number[];
  /** Two sparse histograms for each priority: waits of the present half minute, and of the last one. */
  waits: number[][];
}

/** One worker's queues. */
export interface DoorRecord {
  pid: number;
  at_ms: number;
  upstreams: Record<string, DoorReport>;
}

/** Only a request that has waited for so long is published as the oldest: most records then have none. */
export const OLDEST_FROM_MS = 1000;

/** What a pick needs to know of one node. */
export interface SnapshotNode {
  state: NodeState;
  /** Effective weight: base × score × ramp; 0 only when the base is 0. */
  weight: number;
  /** Base × ramp, for strategies that do not adapt; 0 only when the base is 0. */
  static_weight: number;
  /** Mean latency of recent successes, ms; absent when there were none. */
  latency_ms?: number;
  /** Share of recent tries that succeeded, 0..1; 1 when there were none. */
  success: number;
  /** Successes in the long window; absent when there were none. */
  samples?: number;
  /** P99 of successes by the window that speaks for the node (evidence.ts), ms; absent with fewer than min_samples. */
  judged_p99_ms?: number;
  /** Probing: number of the trial that is granted; one request may take it, by adding trialKey(). */
  trial?: number;
  /** Ramping: most requests in flight, over all workers. */
  ramp_limit?: number;
}

/** @returns the key that whoever takes a trial adds: shared memory lets one succeed */
export function trialKey(upstream: string, node: string, trial: number): string {
  return `trial:${upstream}\n${node}\n${trial}`;
}

/** A drain whose collector has not said so for so long is over, unless its record says that it speaks more seldom. */
export const DRAIN_STALE_MS = 5000;

/** More is never believed: six of the longest collector intervals. */
const DRAIN_STALE_MOST_MS = 30000;

/** @returns whether what the record says of a drain still holds; `now_ms` monotonic */
export function isDrainFresh(record: Record<string, unknown> | undefined, now_ms: number): boolean {
  const at_ms = asNumber(record?.["at_ms"]);
  if (at_ms === undefined) return false;
  const stale_ms = Math.max(DRAIN_STALE_MS, Math.min(DRAIN_STALE_MOST_MS, asNumber(record?.["stale_ms"]) ?? 0));
  return Math.abs(now_ms - at_ms) <= stale_ms;
}

/** A backlog that is being worked off (core/drain.ts). Lists by priority − 1. */
export interface DrainRecord {
  at_ms: number;
  /** The collector may be silent for so long: several of its intervals. */
  stale_ms: number;
  since_ms: number;
  /** Who began it: the API, or the length of the queue. */
  by: "operator" | "size";
  refuse: boolean[];
  weights: number[];
  /** Requests in flight beyond the limits. */
  extra: number;
}

export function drainKey(upstream: string): string {
  return `drain:${upstream}`;
}

/** @returns the key of what an operator wants: a JSON object with `on`, and `refuse` as of a DrainRecord */
export function backlogKey(upstream: string): string {
  return `backlog:${upstream}`;
}

/** The adaptive limit of one node (core/gradient.ts). */
export interface NodeLimit {
  /** In force now: requests in flight over all workers. */
  limit: number;
  /** In operation, when nothing is being measured. */
  operating: number;
  /** When the next measuring is due, monotonic ms. */
  probe_due_ms: number;
  /** Median latency with next to nothing to do, and of late, ms; absent = not known yet. */
  base_ms?: number;
  latency_ms?: number;
  /** The limit is low for the sake of measuring. */
  measuring?: boolean;
}

/** @returns the key of a JSON object: node identity → NodeLimit */
export function limitsKey(upstream: string): string {
  return `limits:${upstream}`;
}

/** Immutable: a reader sees the old one or the new one, whole. */
export interface Snapshot {
  generation: number;
  at_ms: number;
  /** Too few good nodes: use all of them. */
  panic?: boolean;
  /** Node identity → what a pick needs. */
  nodes: Record<string, SnapshotNode>;
}

/** What the status API shows of one node, and what the collector takes over from its predecessor. */
export interface DetailNode extends SnapshotNode {
  /** Why the node is in its state, in words, with the numbers that caused it. */
  reason: string;
  /** When it entered the state, monotonic ms. */
  since_ms: number;
  /** What brought it into the state: the part of `reason` that does not move with time. */
  cause: string;
  /** When the state ends by itself, monotonic ms. */
  until_ms?: number;
  /** Ramping: until then the share stays as low as it began, monotonic ms. */
  flat_until_ms?: number;
  /** What threw it out last. */
  by?: string;
  forced?: boolean;
  trial_at_ms?: number;
  /** The trial is a live request. */
  trial_live?: boolean;
  silent_since_ms?: number;
  /** Asked for less load until then, monotonic ms. */
  busy_until_ms?: number;
  /** Ejections in a row: the next cool-down grows with it. */
  ejections: number;
  base_weight: number;
  /** 0.2..1.5 by default, rate limited. */
  score: number;
  /** Where the score is heading. */
  target_score: number;
  /** When the score last moved, monotonic ms. */
  score_at_ms: number;
  /** Share of the upstream's picks in the short window, 0..1. */
  share: number;
  in_flight: number;
  requests_per_s: number;
  /** Of successes, short window; absent without samples. */
  p50_ms?: number;
  p99_ms?: number;
  /** Of successes, long window. */
  p99_long_ms?: number;
  /** Failed tries (5xx or no answer) ÷ judged tries, short window, 0..1. */
  error_rate: number;
  /** Since the error rate has been over the threshold, monotonic ms. */
  error_since_ms?: number;
  /** Totals since the first sight of the node: never reset by a reload or an election. */
  picks_total: number;
  ok_total: number;
  err_total: number;
  fail_total: number;
  aborted_total: number;
  /** What active probes found; absent without them, and before the first check. */
  probe?: ProbeRecord;
  /** Tries refused for load (429, 503 with Retry-After). */
  busy_total: number;
  /** What the node reported last with an answer; absent without the option `orca`, and before the first. */
  report?: NodeReport;
  /** Reports that could not be read; absent without any. */
  reports_bad_total?: number;
}

export interface Detail {
  generation: number;
  at_ms: number;
  /** pid of the worker that runs the collector. */
  collector_pid: number;
  p50_ms?: number;
  p99_ms?: number;
  requests_per_s: number;
  /** How checks went lately; absent without active probes. */
  probes?: ProbeSummary;
  /** Changes of state in the last minute, over all nodes. */
  state_changes_per_min: number;
  /** Too few good nodes: all are used. Since when, monotonic ms. */
  panic_since_ms?: number;
  /** Times that happened. */
  panics_total: number;
  nodes: Record<string, DetailNode>;
}
