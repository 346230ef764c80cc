/**
 * What a worker gives to and takes from the shared store, every flush: its record (worker_record.ts), its counters and
 * tallies go out; the other workers' requests in flight (worker_record.ts) and new snapshots (snapshots.ts) come in.
 */
import type { Store } from "../core/store";
import { sendTallies } from "../core/tallies";
import { type Delta, DELTAS_MAX } from "../core/wire";
import { takeDeltas } from "./counters";
import { weighRetries } from "./retries";
import type { Upstream } from "./upstream";
import { publishRecord } from "./worker_record";

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
