import { cleanSparse, lowerBoundMs } from "../core/histogram";
import { advanceNode, feedNode } from "../core/windows";
import { DELTAS_MAX, type NodeDelta } from "../core/wire";
import { noteDelta } from "./adaptive_limit";
import { noteReport } from "./reports";
import { breathe, type Collector, type NodeRecord } from "./state";
import { asCount, asRecord } from "../core/values";

/** Entries taken in one tick: all that workers leave in the list, and then some; not an endless loop. */
const DELTAS_PER_TICK = 2 * DELTAS_MAX;

/**
 * Takes all the workers' reports out of the store and into the windows. Upstreams and nodes that are
 * not configured (a worker of the old configuration during a reload) are passed over.
 */
export function takeDeltas(collector: Collector, now_ms: number): void {
  const { store, decode, onWarning } = collector.deps;
  for (let i = 0; i < DELTAS_PER_TICK; i++) {
    const text = store.pop("deltas");
    if (text === undefined) return;
    const entry = asRecord(decode(text));
    const upstreams = asRecord(entry?.upstreams);
    if (upstreams === undefined) onWarning("store_corrupt", "an entry of deltas is not a worker's report; left out");
    else takeDelta(collector, upstreams, Math.min(now_ms, asCount(entry?.at_ms)), now_ms);
  }
}

/** @param at_ms when the worker wrote it */
function takeDelta(collector: Collector, upstreams: Record<string, unknown>, at_ms: number, now_ms: number): void {
  for (const name in upstreams) {
    const upstream = collector.by_name[name];
    const nodes = asRecord(upstreams[name]);
    if (upstream !== undefined && nodes !== undefined) {
      for (const id in nodes) {
        const node = upstream.by_id[id];
        const delta = asRecord(nodes[id]);
        if (node !== undefined && delta !== undefined) {
          upstream.active = true;
          const clean = cleanDelta(delta);
          takeNodeDelta(node, clean, now_ms);
          if (clean.report !== undefined && upstream.config.orca) noteReport(node, clean.report, at_ms);
          breathe(collector, 1);
        }
      }
    }
  }
}

/** Overwrites what is missing or not a count with 0. In place: thousands of them come in a tick. */
function cleanDelta(raw: Record<string, unknown>): NodeDelta {
  raw.picks = asCount(raw.picks);
  raw.ok = asCount(raw.ok);
  raw.err = asCount(raw.err);
  raw.fail = asCount(raw.fail);
  raw.aborted = asCount(raw.aborted);
  raw.sum_ms = asCount(raw.sum_ms);
  raw.streak = asCount(raw.streak);
  raw.failures = asCount(raw.failures);
  raw.busy = asCount(raw.busy);
  raw.retry_after_ms = asCount(raw.retry_after_ms);
  raw.hist = cleanSparse(raw.hist);
  if (typeof raw.report !== "string") raw.report = undefined;
  return raw as unknown as NodeDelta;
}

function countGoodRun(node: NodeRecord, delta: NodeDelta): void {
  if (delta.err + delta.fail > 0) node.good_run = 0;
  else if (delta.ok > 0 && delta.hist.length >= 2) {
    // The histogram ascends: its last bucket is the slowest.
    const slowest_ms = lowerBoundMs(delta.hist[delta.hist.length - 2]);
    node.good_run = slowest_ms <= node.usual_ms ? node.good_run + delta.ok : 0;
  }
}

function takeNodeDelta(node: NodeRecord, delta: NodeDelta, now_ms: number): void {
  advanceNode(node.windows, now_ms);
  feedNode(node.windows, delta);
  if (node.adaptive !== undefined) noteDelta(node.adaptive, delta);
  countStreak(node, delta, now_ms);
  countBusy(node, delta, now_ms);
  countGoodRun(node, delta);
  node.seen.picks_since_return += delta.picks;
  if (delta.ok + delta.err > 0) node.seen.answered_since_return = true;
  node.seen.ok_since_return += delta.ok;
  node.seen.failed_since_return += delta.err + delta.fail;
  const detail = node.detail;
  detail.picks_total += delta.picks;
  detail.ok_total += delta.ok;
  detail.err_total += delta.err;
  detail.fail_total += delta.fail;
  detail.aborted_total += delta.aborted;
  detail.busy_total += delta.busy;
}

/**
 * Connection failures in a row over all workers. Reports come in the order of the flushes. One with
 * an answer in it ends the streak of everybody, and only this worker's failures after its last answer
 * begin a new one; one without an answer adds its failures to those the other workers saw. So a dead
 * node is out after `max_fails` failures in all, not `max_fails` in each worker, and a node that still
 * answers somebody stays. The order of what happened within one flush interval (~100 ms) in different
 * workers is unknown; a report with an answer that comes later is taken as the later event, in the
 * node's favour. What a worker counted before a report is not added again: the others' answers in
 * between count. As in nginx, failures longer ago than `fail_timeout` are forgotten.
 */
function countStreak(node: NodeRecord, delta: NodeDelta, now_ms: number): void {
  const seen = node.seen;
  const memory_ms = Math.max(1, node.config.fail_timeout_s) * 1000;
  const failed = delta.err + delta.fail;
  if (now_ms - node.failed_at_ms > memory_ms) seen.streak = 0;
  if (now_ms - node.failed_at_ms > Math.max(memory_ms, FAILURES_MEMORY_MS)) seen.failures = 0;
  if (failed > 0) node.failed_at_ms = now_ms;
  if (delta.ok > 0) seen.failures = Math.min(delta.failures, failed);
  else seen.failures += failed;
  if (delta.ok + delta.err > 0) seen.streak = Math.min(delta.streak, delta.fail);
  else seen.streak += delta.fail;
}

/** What makes a node suspect is remembered for a minute: adaptive picks leave a failing node a request now and then. */
const FAILURES_MEMORY_MS = 60000;

/** A node may ask for a pause of minutes: after so long it is tried with its full share again. */
const BUSY_MAX_MS = 30000;

/** Without Retry-After (429 alone), and at least: until the next looks have shown an effect. */
const BUSY_LEAST_MS = 2000;

function countBusy(node: NodeRecord, delta: NodeDelta, now_ms: number): void {
  if (delta.busy <= 0) return;
  const for_ms = Math.min(BUSY_MAX_MS, Math.max(BUSY_LEAST_MS, delta.retry_after_ms));
  node.seen.busy_until_ms = Math.max(node.seen.busy_until_ms, now_ms + for_ms);
}
