/** What the workers have in flight, added up by node. */
import { asCount, asNumber, asRecord } from "../core/values";
import { WORKER_DEAD_MS } from "../core/wire";
import { doorKey, lastSlot, lineKey, setLastSlot, workerKey } from "../core/worker_keys";
import type { Collector, NodeRecord, UpstreamRecord } from "./state";

/**
 * Adds up the requests in flight of all workers that live. A worker's record is dead when it is old;
 * one that is shutting down has no timers and is judged by its process. Records of ended processes
 * are removed: nobody else would.
 */
export function sumInFlight(collector: Collector, now_ms: number): void {
  for (let i = 0; i < collector.upstreams.length; i++) {
    const nodes = collector.upstreams[i].nodes;
    for (let j = 0; j < nodes.length; j++) {
      nodes[j].detail.in_flight = 0;
      nodes[j].oldest_start_ms = 0;
    }
  }
  const last = lastSlot(collector.deps.store);
  let last_taken = 0;
  for (let slot = 1; slot <= last; slot++) {
    if (takeWorker(collector, workerKey(slot), now_ms)) last_taken = slot;
  }
  if (last_taken < last) forgetSlots(collector, last_taken, last);
}

/**
 * The slots behind the last one that is taken need no looking at any more: there were more workers once, during a reload.
 * A worker that takes one of them just now says so again at its next flush.
 */
function forgetSlots(collector: Collector, last_taken: number, last: number): void {
  const store = collector.deps.store;
  setLastSlot(store, last_taken);
  for (let slot = last_taken + 1; slot <= last; slot++) {
    store.remove(doorKey(slot));
    for (let i = 0; i < collector.upstreams.length; i++) {
      store.remove(lineKey(collector.upstreams[i].config.name, slot));
    }
  }
}

/** @returns whether the slot is taken, though its worker may be stopped */
function takeWorker(collector: Collector, key: string, now_ms: number): boolean {
  const { store, decode, onWarning, processAlive } = collector.deps;
  const text = store.get(key);
  if (text === undefined) return false;
  const record = asRecord(decode(`${text}`));
  const pid = asNumber(record?.pid);
  const at_ms = asNumber(record?.at_ms);
  if (record === undefined || pid === undefined || at_ms === undefined) {
    // Its worker, if there is one, writes it anew at its next flush.
    onWarning("store_corrupt", `${key} is not a worker's record; removed`);
    store.remove(key);
    return false;
  }
  const old = now_ms - at_ms > WORKER_DEAD_MS;
  if ((old || record.exiting === true) && !processAlive(pid)) {
    store.remove(key);
    return false;
  }
  if (old && record.exiting !== true) return true;
  addInFlight(collector, asRecord(record.in_flight));
  addOldest(collector, asRecord(record.oldest_ms), now_ms);
  return true;
}

/** Numbers by upstream and node; what is not configured is passed over. */
function eachNode(
  collector: Collector,
  upstreams: Record<string, unknown> | undefined,
  visit: (this: void, node: NodeRecord, count: number, upstream: UpstreamRecord) => void,
): void {
  for (const name in upstreams ?? {}) {
    const upstream = collector.by_name[name];
    const nodes = asRecord(upstreams?.[name]);
    if (upstream !== undefined && nodes !== undefined) {
      for (const id in nodes) {
        const node = upstream.by_id[id];
        if (node !== undefined) visit(node, asCount(nodes[id]), upstream);
      }
    }
  }
}

function addInFlight(collector: Collector, upstreams: Record<string, unknown> | undefined): void {
  eachNode(collector, upstreams, (node, count, upstream) => {
    node.detail.in_flight += count;
    upstream.active = true;
  });
}

function addOldest(collector: Collector, upstreams: Record<string, unknown> | undefined, now_ms: number): void {
  eachNode(collector, upstreams, (node, start_ms) => {
    const is_older = node.oldest_start_ms === 0 || start_ms < node.oldest_start_ms;
    if (is_older && start_ms > 0 && start_ms <= now_ms) node.oldest_start_ms = start_ms;
  });
}
