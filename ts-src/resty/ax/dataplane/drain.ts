/** What a drain of the backlog (core/drain.ts) changes in this worker: who is refused, whose turn it is, how many may be in flight. */
import { nextClass, noteClassServed } from "../core/drain";
import { LOWEST_PRIORITY } from "../core/priority";
import { peek, peekClass, remove } from "../core/queue";
import type { Store } from "../core/store";
import { asCount, asRecord } from "../core/values";
import { drainKey, isDrainFresh } from "../core/wire";
import type { Line, Waiter } from "./line";
import { setOwnLimit, type Slots } from "./slots";
import type { Upstream } from "./upstream";

/** In force; made by `readDrains`, gone when the collector says so or says nothing any more. */
export interface LineDrain {
  /** By priority − 1. */
  refuse: boolean[];
  weights: number[];
  credits: number[];
  extra: number;
}

/** Whether a new request of this priority is refused. */
export function refusesNew(line: Line, priority: number): boolean {
  return line.drain?.refuse[priority - 1] === true;
}

/** @returns the waiter whose turn it is: by age and class, or by weights; undefined = nobody waits */
export function nextWaiter(line: Line): Waiter | undefined {
  const drain = line.drain;
  if (drain === undefined) return peek(line.queue);
  return peekClass(line.queue, nextClass(drain.weights, drain.credits, line.queue.counts));
}

/** Takes the waiter that `nextWaiter` named out of the queue: it has its place. */
export function takeOut(line: Line, waiter: Waiter): void {
  const drain = line.drain;
  const priority = waiter.record?.priority ?? LOWEST_PRIORITY;
  if (drain !== undefined) noteClassServed(drain.weights, drain.credits, line.queue.counts, priority);
  remove(line.queue, waiter.id);
}

/** Requests more that one node may have: `extra` of the upstream in equal parts, rounded up. */
function setExtra(upstream: Upstream, slots: Slots, extra: number): void {
  const { config } = upstream;
  const chosen = config.max_concurrency_per_node;
  if (config.adaptive_limit !== undefined) return;
  let count = 0;
  for (const node of config.nodes) if (node.max_conns === 0 && !node.down) count++;
  if (chosen !== undefined && count > 0) {
    const limit = chosen + math.ceil(extra / count);
    for (let node = 0; node < slots.n; node++) {
      if (config.nodes[node].max_conns === 0) setOwnLimit(slots, node, limit, config.max_overflow_ratio);
    }
  }
  if (config.max_concurrency !== undefined) setOwnLimit(slots, slots.n, config.max_concurrency + extra, 0);
}

function listOf<T>(value: unknown, fallback: T): T[] {
  const given = asRecord(value) as unknown[] | undefined;
  const list: T[] = [];
  for (let k = 0; k < LOWEST_PRIORITY; k++) {
    const entry = given?.[k];
    list[k] = typeof entry === typeof fallback ? (entry as T) : fallback;
  }
  return list;
}

function parse(value: unknown, now_ms: number): LineDrain | undefined {
  const given = asRecord(value);
  if (!isDrainFresh(given, now_ms)) return undefined;
  const weights = listOf(given?.["weights"], 1);
  for (let k = 0; k < LOWEST_PRIORITY; k++) if (!(weights[k] > 0)) weights[k] = 1;
  return {
    refuse: listOf(given?.["refuse"], false),
    weights,
    credits: listOf(undefined, 0),
    extra: asCount(given?.["extra"]),
  };
}

function readDrain(upstream: Upstream, line: Line, value: unknown, now_ms: number): void {
  const before = line.drain;
  const drain = parse(value, now_ms);
  if (before !== undefined && drain !== undefined) drain.credits = before.credits;
  line.drain = drain;
  const extra = drain?.extra ?? 0;
  if (extra !== (before?.extra ?? 0) && upstream.slots !== undefined) setExtra(upstream, upstream.slots, extra);
}

/** Takes over what the collector says of drains. Flush; one read of the store for each upstream with a queue. */
export function readDrains(
  store: Store,
  upstreams: Upstream[],
  decode: (this: void, text: string) => unknown,
  now_ms: number,
): void {
  for (const upstream of upstreams) {
    const line = upstream.door.line;
    if (line !== undefined) {
      const text = store.get(drainKey(upstream.config.name));
      if (text !== undefined) readDrain(upstream, line, decode(`${text}`), now_ms);
      else if (line.drain !== undefined) readDrain(upstream, line, undefined, now_ms);
    }
  }
}
