/**
 * What a worker gives to and takes from the shared store, every flush: its counters and its requests
 * in flight go out; the other workers' requests in flight and new snapshots come in.
 */
import type { Store } from "../core/store";
import { type Delta, DELTAS_MAX, type NodeDelta, type Snapshot, WORKER_DEAD_MS, type WorkerRecord } from "../core/wire";
import { takeDeltas } from "./counters";
import { applySnapshot, type Upstream } from "./upstream";

/** Slots looked at for a free one: more workers than any gateway runs, old ones during reloads included. */
const SLOTS_MAX = 1024;

export interface Exchange {
  store: Store;
  pid: number;
  /** Which `worker:<slot>` record is ours; 0 = none yet. */
  slot: number;
  encode(this: void, value: unknown): string | undefined;
  decode(this: void, text: string): unknown;
  processAlive(this: void, pid: number): boolean;
  /** Something could not be written (store_full) or read (store_corrupt). */
  onFault(this: void, code: "store_full" | "store_corrupt", message: string): void;
}

function readRecord(exchange: Exchange, slot: number): WorkerRecord | undefined {
  const text = exchange.store.get(`worker:${slot}`);
  if (typeof text !== "string") return undefined;
  const record = exchange.decode(text) as Partial<WorkerRecord> | undefined;
  if (typeof record !== "object" || record.pid === undefined || record.at_ms === undefined) return undefined;
  return record as WorkerRecord;
}

function isAlive(exchange: Exchange, record: WorkerRecord, now_ms: number): boolean {
  if (record.exiting === true) return exchange.processAlive(record.pid);
  return now_ms - record.at_ms < WORKER_DEAD_MS;
}

/**
 * Finds a slot that is free or whose worker is dead. Two workers may take the same dead slot at once:
 * `holdsSlot` finds out at the next flush, and one of them moves on.
 */
function claimSlot(exchange: Exchange, text: string, now_ms: number): boolean {
  for (let slot = 1; slot <= SLOTS_MAX; slot++) {
    const record = readRecord(exchange, slot);
    if (record === undefined || record.pid === exchange.pid || !isAlive(exchange, record, now_ms)) {
      if (record === undefined) exchange.store.remove(`worker:${slot}`);
      const won =
        record === undefined ? exchange.store.add(`worker:${slot}`, text) : exchange.store.set(`worker:${slot}`, text);
      if (won) {
        exchange.slot = slot;
        return true;
      }
    }
  }
  return false;
}

function holdsSlot(exchange: Exchange): boolean {
  return exchange.slot > 0 && readRecord(exchange, exchange.slot)?.pid === exchange.pid;
}

function inFlightOf(upstreams: Upstream[]): Record<string, Record<string, number>> {
  const all: Record<string, Record<string, number>> = {};
  for (const upstream of upstreams) {
    const pool = upstream.pool;
    let counts: Record<string, number> | undefined;
    for (let node = 0; node < pool.n; node++) {
      if (pool.in_flight[node] > 0) {
        if (counts === undefined) {
          counts = {};
          all[pool.name] = counts;
        }
        counts[pool.ids[node]] = pool.in_flight[node];
      }
    }
  }
  return all;
}

/** Tells the others that this worker lives, and what it has in flight. */
function publishRecord(exchange: Exchange, upstreams: Upstream[], exiting: boolean, now_ms: number): void {
  const record: WorkerRecord = { pid: exchange.pid, at_ms: now_ms, in_flight: inFlightOf(upstreams) };
  if (exiting) record.exiting = true;
  const text = exchange.encode(record);
  if (text === undefined) return;
  const written = holdsSlot(exchange)
    ? exchange.store.set(`worker:${exchange.slot}`, text)
    : claimSlot(exchange, text, now_ms);
  if (!written) {
    exchange.onFault("store_full", "no room for this worker's requests in flight: the other workers cannot see them");
    return;
  }
  const slots = exchange.store.get("worker:slots");
  if (typeof slots !== "number" || slots < exchange.slot) exchange.store.set("worker:slots", exchange.slot);
}

function publishDeltas(exchange: Exchange, upstreams: Upstream[], now_ms: number): void {
  let changed: Record<string, Record<string, NodeDelta>> | undefined;
  for (const upstream of upstreams) {
    const deltas = takeDeltas(upstream.counters, upstream.pool.ids);
    if (deltas !== undefined) {
      changed ??= {};
      changed[upstream.pool.name] = deltas;
    }
  }
  if (changed === undefined) return;
  const delta: Delta = { pid: exchange.pid, at_ms: now_ms, upstreams: changed };
  const text = exchange.encode(delta);
  if (text === undefined) return;
  const length = exchange.store.push("deltas", text);
  if (length === undefined) {
    exchange.onFault("store_full", "no room for this worker's counters: the last ~100 ms are not counted");
  } else if (length > DELTAS_MAX) {
    exchange.store.pop("deltas");
  }
}

/** Flush, outgoing half. Also in the log phase of a worker that is shutting down and has no timers. */
export function publish(exchange: Exchange, upstreams: Upstream[], exiting: boolean, now_ms: number): void {
  publishRecord(exchange, upstreams, exiting, now_ms);
  publishDeltas(exchange, upstreams, now_ms);
}

function addOthers(upstream: Upstream, counts: Record<string, number>): void {
  const pool = upstream.pool;
  for (let node = 0; node < pool.n; node++) {
    const count = counts[pool.ids[node]] as number | undefined;
    if (count !== undefined) pool.others_in_flight[node] += count;
  }
}

/** Takes in the other workers' requests in flight. Dead workers' do not count. */
export function readOthers(exchange: Exchange, upstreams: Upstream[], now_ms: number): void {
  for (const upstream of upstreams) {
    for (let node = 0; node < upstream.pool.n; node++) upstream.pool.others_in_flight[node] = 0;
  }
  const slots = exchange.store.get("worker:slots");
  if (typeof slots !== "number") return;
  for (let slot = 1; slot <= slots && slot <= SLOTS_MAX; slot++) {
    const record = slot === exchange.slot ? undefined : readRecord(exchange, slot);
    if (record !== undefined && record.pid !== exchange.pid && isAlive(exchange, record, now_ms)) {
      for (const upstream of upstreams) {
        const counts = record.in_flight[upstream.pool.name] as Record<string, number> | undefined;
        if (counts !== undefined) addOthers(upstream, counts);
      }
    }
  }
}

function isSnapshot(value: unknown): value is Snapshot {
  if (typeof value !== "object" || value === undefined) return false;
  const snapshot = value as Partial<Snapshot>;
  return typeof snapshot.generation === "number" && typeof snapshot.nodes === "object";
}

/** Takes over every snapshot that has moved since the last call. */
export function readSnapshots(exchange: Exchange, upstreams: Upstream[], now_ms: number): void {
  for (const upstream of upstreams) {
    const text = exchange.store.get(`snapshot:${upstream.pool.name}`);
    if (typeof text === "string" && text !== upstream.snapshot_text) {
      upstream.snapshot_text = text;
      const snapshot = exchange.decode(text);
      if (isSnapshot(snapshot)) applySnapshot(upstream, snapshot, now_ms);
      else exchange.onFault("store_corrupt", `snapshot:${upstream.pool.name} is not a snapshot; kept the one before`);
    }
  }
}
