import { composeWindows } from "./compose";
import { publishKinds } from "./events";
import { breathe, type Collector, type UpstreamRecord } from "./state";

/**
 * Writes what the collector found, every upstream's snapshot and detail, then the generation that tells
 * workers to look. Every tick writes, also when nothing changed: the time stamp shows that the data is
 * fresh, and a key that somebody deleted is back at once.
 */
export function publish(collector: Collector, now_ms: number): void {
  const store = collector.deps.store;
  const stored = store.get("generation");
  const before = typeof stored === "number" ? stored : 0;
  if (stored !== undefined && typeof stored !== "number") store.remove("generation");
  // Never backwards, also when the key was deleted meanwhile: a worker must not take new for old.
  const generation = Math.max(before, collector.generation) + 1;
  collector.generation = generation;
  for (let i = 0; i < collector.upstreams.length; i++) {
    publishUpstream(collector, collector.upstreams[i], `{"generation":${generation},"at_ms":${now_ms},`, now_ms);
  }
  noteWrite(collector, store.incr("generation", generation - before) !== undefined, "generation");
  // One warning an episode: it is over when a whole tick went without a failure.
  collector.full_before = collector.full;
  collector.full = false;
}

function publishUpstream(collector: Collector, upstream: UpstreamRecord, head: string, now_ms: number): void {
  const name = upstream.config.name;
  write(collector, `snapshot:${name}`, head + upstream.snapshot_body);
  breathe(collector, upstream.nodes.length / 4);
  if (upstream.detail_due || upstream.settled) writeDetail(collector, upstream, head);
  upstream.detail_due = false;
  const windows = composeWindows(collector, upstream, now_ms);
  publishKinds(collector, upstream, windows !== undefined);
  if (windows !== undefined) write(collector, `windows:${name}`, windows);
}

function writeDetail(collector: Collector, upstream: UpstreamRecord, head: string): void {
  const parts = upstream.detail_parts;
  if (parts.length === 0) return;
  parts[0] = head;
  write(collector, `detail:${upstream.config.name}`, parts.join(""));
  breathe(collector, upstream.nodes.length / 2);
}

function write(collector: Collector, key: string, text: string): void {
  noteWrite(collector, collector.deps.store.set(key, text), key);
}

function noteWrite(collector: Collector, written: boolean, key: string): void {
  if (written) return;
  if (!collector.full && !collector.full_before) {
    collector.deps.onWarning("store_full", `no room for ${key}: workers keep what they have; enlarge the shared dict`);
  }
  collector.full = true;
}
