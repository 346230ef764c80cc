/**
 * Decides when the backlog of an upstream is drained (core/drain.ts): when an operator says so, or by itself when the
 * queue has been nearly full for a while (option queue.drain).
 *
 * | key | written by | read by | lives |
 * |---|---|---|---|
 * | backlog:<upstream> | API: what an operator wants      | collector, which removes it when it is done; a drain that was ended by hand does not begin by itself while it is there | over reloads and elections |
 * | drain:<upstream>   | collector, each tick of a drain  | workers, status API, the next collector     | no drain when it is older than its `stale_ms` |
 */
import { type Drain, newDrain, stepDrain } from "../core/drain";
import { type DrainPlan, drainPlan } from "../core/drain_plan";
import type { QueueConfig, UpstreamConfig } from "../core/model";
import { LOWEST_PRIORITY } from "../core/priority";
import { asCount, asNumber, asRecord, padded } from "../core/values";
import { backlogKey, DRAIN_STALE_MS, drainKey, type DrainRecord, isDrainFresh, WORKER_DEAD_MS } from "../core/wire";
import { doorKey, lastSlot } from "../core/worker_keys";
import type { Collector, CollectorDeps, UpstreamRecord } from "./state";

/** How long the queue must have been as full as `from` says, ms: a burst is no backlog. */
const FULL_FOR_MS = 2000;

/** A drain is over when its collector has said nothing for so many of its intervals: one tick may come late. */
const STALE_INTERVALS = 3;

/** One length for all: a full shared dict takes a value of another length for a new one, and loses the old one. */
const DRAIN_BYTES = 384;

/** Bytes of a worker's report that cost as much to read as one node does to judge (state.ts). */
const BYTES_PER_NODE = 50;

/** Of one upstream with a queue; lives as long as its collector. */
export interface Backlog {
  plan: DrainPlan;
  /** Under way. */
  drain?: Drain;
  since_ms: number;
  by: DrainRecord["by"];
  /** Which of the classes 1..5 are refused, as the operator said; undefined = as configured. */
  refuse?: boolean[];
  /** Since when the queue has been nearly full, monotonic ms. */
  full_since_ms?: number;
}

/** Requests waiting, by upstream, over all workers as of their last flush; made at most once a tick. */
export interface Waiting {
  /** Counts work, and pauses when it is time to (state.ts). */
  breathe(this: void, nodes: number): void;
  by_name?: Record<string, number | undefined>;
}

/** @returns undefined without a queue */
export function newBacklog(config: UpstreamConfig): Backlog | undefined {
  if (config.queue === undefined) return undefined;
  return { plan: drainPlan(config, config.queue), since_ms: 0, by: "operator" };
}

function readJson(deps: CollectorDeps, key: string): Record<string, unknown> | undefined {
  const text = deps.store.get(key);
  return text === undefined ? undefined : asRecord(deps.decode(`${text}`));
}

function addReports(sums: Record<string, number | undefined>, reports: Record<string, unknown>): void {
  for (const name in reports) {
    const counts = asRecord(asRecord(reports[name])?.waiting) as unknown[] | undefined;
    let waiting = 0;
    for (let k = 0; k < LOWEST_PRIORITY; k++) waiting += asCount(counts?.[k]);
    if (waiting > 0) sums[name] = (sums[name] ?? 0) + waiting;
  }
}

/** Reads every worker's report once, for all upstreams: with many of both that takes longer than a worker may stop. */
function sumWaiting(deps: CollectorDeps, waiting: Waiting, now_ms: number): Record<string, number | undefined> {
  const { store, decode } = deps;
  const sums: Record<string, number | undefined> = {};
  const slots = lastSlot(store);
  for (let slot = 1; slot <= slots; slot++) {
    const text = `${store.get(doorKey(slot)) ?? ""}`;
    const record = text === "" ? undefined : asRecord(decode(text));
    const at_ms = asNumber(record?.at_ms);
    if (at_ms !== undefined && Math.abs(now_ms - at_ms) < WORKER_DEAD_MS) {
      const reports = asRecord(record?.upstreams);
      if (reports !== undefined) addReports(sums, reports);
    }
    waiting.breathe(1 + text.length / BYTES_PER_NODE);
  }
  return sums;
}

function begin(backlog: Backlog, by: DrainRecord["by"], extra: number, now_ms: number): void {
  backlog.drain = newDrain(extra);
  backlog.by = by;
  backlog.since_ms = now_ms;
}

/** @returns which of the classes 1..5, or undefined when that is not what it says */
function flagsOf(value: unknown): boolean[] | undefined {
  const given = asRecord(value) as unknown[] | undefined;
  if (given === undefined) return undefined;
  const flags: boolean[] = [];
  for (let k = 0; k < LOWEST_PRIORITY; k++) flags[k] = given[k] === true;
  return flags;
}

/** What the one before was at. Collector, at its first tick. */
export function takeDrain(deps: CollectorDeps, upstream: UpstreamRecord, now_ms: number): void {
  const { backlog, config } = upstream;
  if (backlog === undefined) {
    // Without a queue there is nothing to drain, nor will anybody else take the wish away.
    deps.store.remove(backlogKey(config.name));
    return;
  }
  const old = readJson(deps, drainKey(config.name));
  if (old === undefined || !isDrainFresh(old, now_ms)) {
    deps.store.remove(drainKey(config.name));
    return;
  }
  begin(backlog, old.by === "size" ? "size" : "operator", Math.min(backlog.plan.max_extra, asCount(old.extra)), now_ms);
  backlog.since_ms = Math.min(now_ms, asNumber(old.since_ms) ?? now_ms);
  backlog.refuse = flagsOf(old.refuse);
}

/** @returns whether the operator has ended a drain, and none is to begin by itself before `release` */
function obeyOperator(deps: CollectorDeps, backlog: Backlog, name: string, now_ms: number): boolean {
  const wish = readJson(deps, backlogKey(name));
  if (wish === undefined) return false;
  if (wish.on === true) {
    if (backlog.drain === undefined) begin(backlog, "operator", 0, now_ms);
    backlog.by = "operator";
    backlog.refuse = flagsOf(wish.refuse);
    return false;
  }
  backlog.drain = undefined;
  return true;
}

/** The queue is emptier than half of what begins a drain (or none ever begins by itself): what ended the last is done. */
function release(deps: CollectorDeps, queue: QueueConfig, name: string, waiting: number): void {
  const from = queue.drain.from * queue.size;
  if (from > 0 && waiting >= from / 2) return;
  // The operator may have changed his mind while this tick paused.
  const wish = readJson(deps, backlogKey(name));
  if (wish?.on !== true) deps.store.remove(backlogKey(name));
}

/** Whether the queue has been nearly full for long enough. */
function isPiledUp(backlog: Backlog, queue: QueueConfig, waiting: number, now_ms: number): boolean {
  const from = queue.drain.from * queue.size;
  if (from === 0 || waiting < from) {
    backlog.full_since_ms = undefined;
    return false;
  }
  backlog.full_since_ms ??= now_ms;
  return now_ms - backlog.full_since_ms >= FULL_FOR_MS;
}

function look(upstream: UpstreamRecord, drain: Drain, plan: DrainPlan, waiting: number, now_ms: number): boolean {
  let ok = 0;
  let sum_ms = 0;
  let failed = 0;
  for (let i = 0; i < upstream.nodes.length; i++) {
    const total = upstream.nodes[i].windows.short.total;
    ok += total.ok;
    sum_ms += total.sum_ms;
    failed += total.err + total.fail;
  }
  const latency_ms = ok > 0 ? sum_ms / ok : undefined;
  const error_rate = ok + failed > 0 ? failed / (ok + failed) : 0;
  const look_ms = upstream.config.window_short_s * 1000;
  return stepDrain(drain, { waiting, latency_ms, error_rate }, plan.max_extra, look_ms, now_ms);
}

function publish(collector: Collector, backlog: Backlog, drain: Drain, name: string, now_ms: number): void {
  const { deps, config } = collector;
  const { plan, since_ms, by } = backlog;
  const refuse = backlog.refuse ?? plan.refuse;
  const stale_ms = Math.max(DRAIN_STALE_MS, STALE_INTERVALS * config.collector_interval_ms);
  const record: DrainRecord = {
    at_ms: now_ms,
    stale_ms,
    since_ms,
    by,
    refuse,
    weights: plan.weights,
    extra: drain.extra,
  };
  const text = deps.encode(record);
  if (text === undefined || deps.store.set(drainKey(name), padded(text, DRAIN_BYTES))) return;
  deps.onWarning("store_full", `no room for ${drainKey(name)}: the backlog of upstream "${name}" is not drained`);
}

/** What is left of a drain, or begins one. */
function decide(upstream: UpstreamRecord, backlog: Backlog, queue: QueueConfig, waiting: number, now_ms: number): void {
  if (backlog.drain === undefined && isPiledUp(backlog, queue, waiting, now_ms)) {
    begin(backlog, "size", 0, now_ms);
    backlog.refuse = undefined;
  }
  if (backlog.drain !== undefined && look(upstream, backlog.drain, backlog.plan, waiting, now_ms)) {
    backlog.drain = undefined;
    backlog.full_since_ms = undefined;
  }
}

/**
 * Begins, goes on with or ends draining an upstream's backlog. Collector, each tick; nothing without a queue.
 *
 * @param waiting of this tick
 */
export function drainBacklog(collector: Collector, upstream: UpstreamRecord, waiting: Waiting, now_ms: number): void {
  const { backlog, config } = upstream;
  const { deps } = collector;
  const queue = config.queue;
  if (backlog === undefined || queue === undefined) return;
  const name = config.name;
  const was_draining = backlog.drain !== undefined;
  const is_held = obeyOperator(deps, backlog, name, now_ms);
  const looks = is_held || backlog.drain !== undefined || queue.drain.from > 0;
  if (looks) {
    waiting.by_name ??= sumWaiting(deps, waiting, now_ms);
    const count = waiting.by_name[name] ?? 0;
    const drained = backlog.drain;
    if (is_held) {
      backlog.full_since_ms = undefined;
      release(deps, queue, name, count);
    } else decide(upstream, backlog, queue, count, now_ms);
    if (drained !== undefined && backlog.drain === undefined) deps.store.remove(backlogKey(name));
  }
  if (backlog.drain !== undefined) publish(collector, backlog, backlog.drain, name, now_ms);
  else if (was_draining) deps.store.remove(drainKey(name));
}
