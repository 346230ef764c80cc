/** Snapshots that the collector has published: read, checked and taken over. */
import { stateNamed } from "../core/health/states";
import { asCount, asNumber, asRecord } from "../core/values";
import type { Snapshot, SnapshotNode } from "../core/wire";
import { applySnapshot } from "./apply_snapshot";
import type { Exchange } from "./exchange";
import type { Upstream } from "./upstream";

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
