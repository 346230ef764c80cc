/**
 * The record by which a worker tells the others that it lives and what it has in flight, under a slot of its own; and
 * what it makes of theirs.
 */
import { fraction } from "../core/fraction";
import type { Pool } from "../core/pool";
import { asCount, asNumber, asRecord } from "../core/values";
import { OLDEST_FROM_MS, SLOTS_MAX, WORKER_DEAD_MS, type WorkerRecord } from "../core/wire";
import { lastSlot, setLastSlot, workerKey } from "../core/worker_keys";
import type { Exchange } from "./exchange";
import type { Upstream } from "./upstream";

function readRecord(exchange: Exchange, slot: number): WorkerRecord | undefined {
  const text = exchange.store.get(workerKey(slot));
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
    const key = workerKey(slot);
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

/** Tells the others that this worker lives, and what it has in flight. Flush. */
export function publishRecord(exchange: Exchange, upstreams: Upstream[], exiting: boolean, now_ms: number): void {
  const record: WorkerRecord = { pid: exchange.pid, at_ms: now_ms, in_flight: countsOf(upstreams, inFlight) ?? {} };
  record.long = countsOf(upstreams, longInFlight);
  if (exiting) record.exiting = true;
  record.oldest_ms = oldestOf(upstreams, now_ms);
  const text = exchange.encode(record);
  if (text === undefined) return;
  const written = holdsSlot(exchange)
    ? exchange.store.set(workerKey(exchange.slot), text)
    : claimSlot(exchange, text, now_ms);
  if (!written) {
    exchange.onFault("store_full", "no room for this worker's requests in flight: the other workers cannot see them");
    return;
  }
  if (lastSlot(exchange.store) < exchange.slot) setLastSlot(exchange.store, exchange.slot);
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
  const last = lastSlot(exchange.store);
  for (let slot = 1; slot <= last; slot++) {
    const record = slot === exchange.slot ? undefined : readRecord(exchange, slot);
    if (record !== undefined && record.pid !== exchange.pid && isAlive(exchange, record, now_ms)) {
      for (const upstream of upstreams) addOthers(upstream, record);
    }
  }
}
