/**
 * What a worker gives to and takes from the shared store, every flush: its counters and its requests
 * in flight go out; the other workers' requests in flight and new snapshots come in.
 */
import { fraction } from "../core/fraction";
import type { Pool } from "../core/pool";
import type { Store } from "../core/store";
import { stateNamed } from "../core/health/states";
import { asCount, asNumber, asRecord } from "../core/values";
import {
  type Delta,
  DELTAS_MAX,
  OLDEST_FROM_MS,
  SLOTS_MAX,
  type Snapshot,
  type SnapshotNode,
  WORKER_DEAD_MS,
  type WorkerRecord,
} from "../core/wire";
import { takeDeltas } from "./counters";
import { sendTallies } from "../core/tallies";
import { applySnapshot } from "./apply_snapshot";
import { weighRetries } from "./retries";
import type { Upstream } from "./upstream";

export interface Exchange {
  store: Store;
  pid: number;
  /** Which `worker:<slot>` record is ours; 0 = none yet. */
  slot: number;
  /** Generation of the snapshots read last; undefined before the first. */
  generation: number | undefined;
  encode(this: void, value: unknown): string | undefined;
  decode(this: void, text: string): unknown;
  processAlive(this: void, pid: number): boolean;
  /** Something could not be written (store_full) or read (store_corrupt). */
  onFault(this: void, code: "store_full" | "store_corrupt", message: string): void;
}

function readRecord(exchange: Exchange, slot: number): WorkerRecord | undefined {
  const text = exchange.store.get(`worker:${slot}`);
  if (typeof text !== "string") return undefined;
  const record = asRecord(exchange.decode(text));
  const pid = asNumber(record?.["pid"]);
  const at_ms = asNumber(record?.["at_ms"]);
  if (record === undefined || pid === undefined || at_ms === undefined) return undefined;
  const in_flight = (asRecord(record["in_flight"]) ?? {}) as WorkerRecord["in_flight"];
  const long = asRecord(record["long"]) as WorkerRecord["long"];
  return { pid, at_ms, exiting: record["exiting"] === true, in_flight, long };
}

function isAlive(exchange: Exchange, record: WorkerRecord, now_ms: number): boolean {
  if (record.exiting === true) return exchange.processAlive(record.pid);
  // A stamp of the future is not from this machine's clock.
  return Math.abs(now_ms - record.at_ms) < WORKER_DEAD_MS;
}

/**
 * Finds a slot that is free or whose worker is dead. Two workers may take the same dead slot at once:
 * `holdsSlot` finds out at the next flush, and one of them moves on.
 */
function claimSlot(exchange: Exchange, text: string, now_ms: number): boolean {
  for (let slot = 1; slot <= SLOTS_MAX; slot++) {
    const key = `worker:${slot}`;
    const record = readRecord(exchange, slot);
    if (record === undefined || record.pid === exchange.pid || !isAlive(exchange, record, now_ms)) {
      // Something unreadable would keep the slot for ever.
      if (record === undefined && exchange.store.get(key) !== undefined) exchange.store.remove(key);
      const won = record === undefined ? exchange.store.add(key, text) : exchange.store.set(key, text);
      // Nobody has taken it, and yet it cannot be had: given free just now, or there is no room. Going on would end far
      // from the others, and every reader goes through all slots up to the last.
      const is_free = !won && (record !== undefined || exchange.store.get(key) === undefined);
      if (won || (is_free && exchange.store.add(key, text))) {
        exchange.slot = slot;
        return true;
      }
      if (is_free) return false;
    }
  }
  return false;
}

function holdsSlot(exchange: Exchange): boolean {
  return exchange.slot > 0 && readRecord(exchange, exchange.slot)?.pid === exchange.pid;
}

type Counts = Record<string, Record<string, number>>;

function inFlight(this: void, pool: Pool, node: number): number {
  return pool.in_flight[node];
}

function longInFlight(this: void, pool: Pool, node: number): number {
  return pool.long_in_flight[node];
}

/** What is not zero, by upstream and node; undefined when all is. */
function countsOf(upstreams: Upstream[], count: (this: void, pool: Pool, node: number) => number): Counts | undefined {
  let all: Counts | undefined;
  for (const { pool } of upstreams) {
    let counts: Record<string, number> | undefined;
    for (let node = 0; node < pool.n; node++) {
      const value = count(pool, node);
      if (value > 0) {
        counts ??= {};
        counts[pool.ids[node]] = value;
      }
    }
    if (counts !== undefined) {
      all ??= {};
      all[pool.name] = counts;
    }
  }
  return all;
}

/** Requests that have waited for long, for the collector to see a node that hangs before anything times out. */
function oldestOf(upstreams: Upstream[], now_ms: number): WorkerRecord["oldest_ms"] {
  let all: WorkerRecord["oldest_ms"];
  for (const upstream of upstreams) {
    const pool = upstream.pool;
    let starts: Record<string, number> | undefined;
    for (let node = 0; node < pool.n; node++) {
      const start_ms = pool.oldest_start_ms[node];
      if (start_ms > 0 && now_ms - start_ms >= OLDEST_FROM_MS) {
        if (starts === undefined) {
          starts = {};
          all ??= {};
          all[pool.name] = starts;
        }
        starts[pool.ids[node]] = start_ms;
      }
    }
  }
  return all;
}

/** Tells the others that this worker lives, and what it has in flight. */
function publishRecord(exchange: Exchange, upstreams: Upstream[], exiting: boolean, now_ms: number): void {
  const record: WorkerRecord = { pid: exchange.pid, at_ms: now_ms, in_flight: countsOf(upstreams, inFlight) ?? {} };
  record.long = countsOf(upstreams, longInFlight);
  if (exiting) record.exiting = true;
  record.oldest_ms = oldestOf(upstreams, now_ms);
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

/** Nodes in one entry of `deltas`: the collector decodes an entry in one go, and must be done with it in a millisecond. */
const NODES_PER_DELTA = 100;

/** @returns false: no use to go on, nothing more will fit */
function pushDelta(exchange: Exchange, changed: Delta["upstreams"], now_ms: number): boolean {
  const delta: Delta = { pid: exchange.pid, at_ms: now_ms, upstreams: changed };
  const text = exchange.encode(delta);
  if (text === undefined) {
    exchange.onFault("store_corrupt", "this worker's counters cannot be written as JSON: the last ones are lost");
    return true;
  }
  const length = exchange.store.push("deltas", text);
  if (length === undefined) {
    exchange.onFault("store_full", "no room for this worker's counters: the last ~100 ms are not counted");
    return false;
  }
  if (length > DELTAS_MAX) exchange.store.pop("deltas");
  return true;
}

/** Small upstreams share an entry, large ones have several. */
function publishDeltas(exchange: Exchange, upstreams: Upstream[], now_ms: number): void {
  let changed: Delta["upstreams"] | undefined;
  let nodes = 0;
  for (const { counters, pool } of upstreams) {
    while (counters.dirty_count > 0) {
      const before = counters.dirty_count;
      const deltas = takeDeltas(counters, pool.ids, NODES_PER_DELTA - nodes);
      if (deltas === undefined) break;
      changed ??= {};
      changed[pool.name] = deltas;
      nodes += before - counters.dirty_count;
      if (nodes >= NODES_PER_DELTA) {
        if (!pushDelta(exchange, changed, now_ms)) return;
        changed = undefined;
        nodes = 0;
      }
    }
  }
  if (changed !== undefined) pushDelta(exchange, changed, now_ms);
}

/** Adds what is new to the shared counts of requests without a key. */
function publishKeyless(exchange: Exchange, upstreams: Upstream[]): void {
  for (const upstream of upstreams) {
    const unsent = upstream.keyless_total - upstream.keyless_sent;
    if (unsent > 0 && exchange.store.incr(`keyless:${upstream.pool.name}`, unsent) !== undefined) {
      upstream.keyless_sent += unsent;
    }
  }
}

/** Flush, outgoing half. Also in the log phase of a worker that is shutting down and has no timers. */
export function publish(exchange: Exchange, upstreams: Upstream[], exiting: boolean, now_ms: number): void {
  publishRecord(exchange, upstreams, exiting, now_ms);
  for (const upstream of upstreams) weighRetries(upstream, now_ms);
  publishDeltas(exchange, upstreams, now_ms);
  publishKeyless(exchange, upstreams);
  for (const upstream of upstreams) sendTallies(upstream.tallies, exchange.store, upstream.pool.name);
}

/** Long requests tell as little of a node's work here as in the worker that has them. */
function addOthers(upstream: Upstream, record: WorkerRecord): void {
  const pool = upstream.pool;
  const counts = asRecord(record.in_flight[pool.name]);
  if (counts === undefined) return;
  const long = asRecord(record.long?.[pool.name]);
  for (let node = 0; node < pool.n; node++) {
    const id = pool.ids[node];
    pool.others_in_flight[node] += Math.max(0, asCount(counts[id]) - asCount(long?.[id]));
  }
}

/** Takes in the other workers' requests in flight. Dead workers' do not count. */
export function readOthers(exchange: Exchange, upstreams: Upstream[], now_ms: number): void {
  for (const upstream of upstreams) {
    for (let node = 0; node < upstream.pool.n; node++) upstream.pool.others_in_flight[node] = fraction(0);
  }
  const slots = exchange.store.get("worker:slots");
  if (typeof slots !== "number") return;
  for (let slot = 1; slot <= slots && slot <= SLOTS_MAX; slot++) {
    const record = slot === exchange.slot ? undefined : readRecord(exchange, slot);
    if (record !== undefined && record.pid !== exchange.pid && isAlive(exchange, record, now_ms)) {
      for (const upstream of upstreams) addOthers(upstream, record);
    }
  }
}

/** A node of a snapshot, or undefined when a field that picks rest on is missing or no number. */
function snapshotNode(value: unknown): SnapshotNode | undefined {
  const given = asRecord(value);
  const state = stateNamed(given?.["state"]);
  const weight = asNumber(given?.["weight"]);
  const static_weight = asNumber(given?.["static_weight"]);
  const success = asNumber(given?.["success"]);
  if (state === undefined || weight === undefined || static_weight === undefined || success === undefined) {
    return undefined;
  }
  return {
    state,
    weight,
    static_weight,
    success,
    latency_ms: asNumber(given?.["latency_ms"]),
    samples: asNumber(given?.["samples"]),
    judged_p99_ms: asNumber(given?.["judged_p99_ms"]),
    trial: asNumber(given?.["trial"]),
    ramp_limit: asNumber(given?.["ramp_limit"]),
  };
}

/** Nodes that are unreadable are left out: they keep what is known of them. */
function readSnapshot(value: unknown): Snapshot | undefined {
  const given = asRecord(value);
  const nodes = asRecord(given?.["nodes"]);
  if (given === undefined || nodes === undefined) return undefined;
  const snapshot: Snapshot = { generation: asCount(given["generation"]), at_ms: asCount(given["at_ms"]), nodes: {} };
  if (given["panic"] === true) snapshot.panic = true;
  for (const [id, node] of pairs(nodes)) {
    const read = snapshotNode(node);
    if (read !== undefined) snapshot.nodes[id] = read;
  }
  return snapshot;
}

/** Nodes of snapshots taken over between two pauses: about two milliseconds' work. */
const NODES_PER_PAUSE = 1000;

/** Also unchanged it is taken over again: measurements of the worker's own yield to it when they get old. */
const TAKE_AGAIN_MS = 3000;

/**
 * What a snapshot says, without its generation and time: of an upstream without traffic the same at every tick, and
 * decoding it is dear.
 */
function bodyOf(text: string): string {
  const generation_end = text.indexOf(",");
  const time_end = text.indexOf(",", generation_end + 1);
  return text.substring(time_end + 1);
}

function takeSnapshot(exchange: Exchange, upstream: Upstream, text: string, now_ms: number): void {
  upstream.snapshot_taken_ms = now_ms;
  const snapshot = readSnapshot(exchange.decode(text));
  if (snapshot !== undefined) applySnapshot(upstream, snapshot, now_ms);
  else exchange.onFault("store_corrupt", `snapshot:${upstream.pool.name} is not a snapshot; kept the one before`);
}

/**
 * Takes over every snapshot that has moved since the last call.
 * @param pause lets the worker serve what waits; absent where there is nothing to wait for
 */
export function readSnapshots(exchange: Exchange, upstreams: Upstream[], now_ms: number, pause?: () => void): void {
  const generation = asNumber(exchange.store.get("generation"));
  if (generation !== undefined && generation === exchange.generation) return;
  exchange.generation = generation;
  let nodes = 0;
  for (const upstream of upstreams) {
    upstream.store = exchange.store;
    const text = exchange.store.get(`snapshot:${upstream.pool.name}`);
    if (typeof text === "string") {
      const body = bodyOf(text);
      if (body !== upstream.snapshot_body || now_ms - upstream.snapshot_taken_ms >= TAKE_AGAIN_MS) {
        upstream.snapshot_body = body;
        if (pause !== undefined && nodes > 0 && nodes + upstream.pool.n > NODES_PER_PAUSE) {
          pause();
          nodes = 0;
        }
        nodes += upstream.pool.n;
        takeSnapshot(exchange, upstream, text, now_ms);
      }
    }
  }
}
