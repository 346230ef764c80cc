/**
 * Decides when the backlog of an upstream is drained (core/drain.ts): when an operator says so, or by itself when the
 * queue has been nearly full for a while (option queue.drain).
 *
 * | key | written by | read by | lives |
 * |---|---|---|---|
 * | backlog:<upstream> | API: what an operator wants      | collector, which removes it when it is done | over reloads and elections |
 * | drain:<upstream>   | collector, each tick of a drain  | workers, status API, the next collector     | no drain when `at_ms` is older than DRAIN_STALE_MS |
 */
import { type Drain, newDrain, stepDrain } from "../core/drain";
import { type DrainPlan, drainPlan } from "../core/drain_plan";
import type { QueueConfig, UpstreamConfig } from "../core/model";
import { LOWEST_PRIORITY } from "../core/priority";
import { asCount, asNumber, asRecord } from "../core/values";
import { backlogKey, DRAIN_STALE_MS, drainKey, type DrainRecord, SLOTS_MAX, WORKER_DEAD_MS } from "../core/wire";
import type { CollectorDeps, UpstreamRecord } from "./state";

/** How long the queue must have been as full as `from` says, ms: a burst is no backlog. */
const FULL_FOR_MS = 2000;

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
  /** An operator has ended the last one: none begins by itself before the queue has been half as full as for that. */
  ended_by_hand: boolean;
}

/** @returns undefined without a queue */
export function newBacklog(config: UpstreamConfig): Backlog | undefined {
  if (config.queue === undefined) return undefined;
  return { plan: drainPlan(config, config.queue), since_ms: 0, by: "operator", ended_by_hand: false };
}

function readJson(deps: CollectorDeps, key: string): Record<string, unknown> | undefined {
  const text = deps.store.get(key);
  return text === undefined ? undefined : asRecord(deps.decode(`${text}`));
}

/** Requests waiting over all workers, as of their last flush. */
function waitingIn(deps: CollectorDeps, name: string, now_ms: number): number {
  let waiting = 0;
  const slots = Math.min(SLOTS_MAX, asCount(deps.store.get("worker:slots")));
  for (let slot = 1; slot <= slots; slot++) {
    const record = readJson(deps, `door:${slot}`);
    const at_ms = asNumber(record?.at_ms);
    if (at_ms !== undefined && Math.abs(now_ms - at_ms) < WORKER_DEAD_MS) {
      const counts = asRecord(asRecord(asRecord(record?.upstreams)?.[name])?.waiting) as unknown[] | undefined;
      for (let k = 0; k < LOWEST_PRIORITY; k++) waiting += asCount(counts?.[k]);
    }
  }
  return waiting;
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
  const backlog = upstream.backlog;
  const old = backlog === undefined ? undefined : readJson(deps, drainKey(upstream.config.name));
  const at_ms = asNumber(old?.at_ms);
  if (backlog === undefined) return;
  if (at_ms === undefined || Math.abs(now_ms - at_ms) > DRAIN_STALE_MS) {
    deps.store.remove(drainKey(upstream.config.name));
    return;
  }
  begin(
    backlog,
    old?.by === "size" ? "size" : "operator",
    Math.min(backlog.plan.max_extra, asCount(old?.extra)),
    now_ms,
  );
  backlog.since_ms = Math.min(now_ms, asNumber(old?.since_ms) ?? now_ms);
  backlog.refuse = flagsOf(old?.refuse);
}

function obeyOperator(deps: CollectorDeps, backlog: Backlog, name: string, now_ms: number): void {
  const wish = readJson(deps, backlogKey(name));
  if (wish === undefined) return;
  if (wish.on === true) {
    if (backlog.drain === undefined) begin(backlog, "operator", 0, now_ms);
    backlog.by = "operator";
    backlog.refuse = flagsOf(wish.refuse);
  } else {
    backlog.drain = undefined;
    backlog.ended_by_hand = true;
    deps.store.remove(backlogKey(name));
  }
}

/** Whether the queue has been nearly full for long enough. */
function isPiledUp(backlog: Backlog, queue: QueueConfig, waiting: number, now_ms: number): boolean {
  const from = queue.drain.from * queue.size;
  if (waiting < from / 2) backlog.ended_by_hand = false;
  if (from === 0 || waiting < from || backlog.ended_by_hand) {
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

function publish(deps: CollectorDeps, backlog: Backlog, drain: Drain, name: string, now_ms: number): void {
  const { plan, since_ms, by } = backlog;
  const refuse = backlog.refuse ?? plan.refuse;
  const record: DrainRecord = { at_ms: now_ms, since_ms, by, refuse, weights: plan.weights, extra: drain.extra };
  const text = deps.encode(record);
  if (text === undefined || deps.store.set(drainKey(name), text)) return;
  deps.onWarning("store_full", `no room for ${drainKey(name)}: the backlog of upstream "${name}" is not drained`);
}

/** Begins, goes on with or ends draining an upstream's backlog. Collector, each tick; nothing without a queue. */
export function drainBacklog(deps: CollectorDeps, upstream: UpstreamRecord, now_ms: number): void {
  const { backlog, config } = upstream;
  const queue = config.queue;
  if (backlog === undefined || queue === undefined) return;
  const name = config.name;
  const was_draining = backlog.drain !== undefined;
  obeyOperator(deps, backlog, name, now_ms);
  if (backlog.drain === undefined && queue.drain.from === 0 && !was_draining) return;
  const waiting = waitingIn(deps, name, now_ms);
  if (backlog.drain === undefined && isPiledUp(backlog, queue, waiting, now_ms)) {
    begin(backlog, "size", 0, now_ms);
    backlog.refuse = undefined;
  }
  if (backlog.drain !== undefined && look(upstream, backlog.drain, backlog.plan, waiting, now_ms)) {
    backlog.drain = undefined;
    backlog.full_since_ms = undefined;
    deps.store.remove(backlogKey(name));
  }
  if (backlog.drain !== undefined) publish(deps, backlog, backlog.drain, name, now_ms);
  else if (was_draining) deps.store.remove(drainKey(name));
}
