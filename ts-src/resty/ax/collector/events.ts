import { eventKey, eventsKey, EVENTS_MAX, type HealthEvent, parseEvent, transitionsKey } from "../core/health/events";
import { asCount, asRecord } from "../core/values";
import type { Collector, NodeRecord, UpstreamRecord } from "./state";

/**
 * The event log of an upstream, as the collector writes it: one key an event, the counts by kind in another. Both
 * outlive the collector.
 */

/** Changes of state are counted per second, for the rate of the last minute. */
const RATE_SECONDS = 60;

/** What of the log the collector remembers. */
export interface EventRecord {
  /** Counts by kind: "online→suspect". */
  kinds: Record<string, number>;
  kinds_changed: boolean;
  /** Number of the last one. */
  last: number;
  /** Changes per second of the last minute, by second mod 60, and which second that was. */
  per_second: number[];
  second: number[];
}

export function newEventRecord(): EventRecord {
  const per_second: number[] = [];
  const second: number[] = [];
  for (let i = 0; i < RATE_SECONDS; i++) {
    per_second[i] = 0;
    second[i] = -1;
  }
  return { kinds: {}, kinds_changed: false, last: 0, per_second, second };
}

function addChange(record: EventRecord, at_ms: number): void {
  const second = Math.floor(at_ms / 1000);
  const at = second % RATE_SECONDS;
  if (record.second[at] !== second) {
    record.second[at] = second;
    record.per_second[at] = 0;
  }
  record.per_second[at]++;
}

/** @returns changes of state in the last minute */
export function changesPerMinute(record: EventRecord, now_ms: number): number {
  const oldest = Math.floor(now_ms / 1000) - RATE_SECONDS;
  let sum = 0;
  for (let i = 0; i < RATE_SECONDS; i++) if (record.second[i] > oldest) sum += record.per_second[i];
  return sum;
}

/** Keeps an event; logs it once. */
export function emit(
  collector: Collector,
  upstream: UpstreamRecord,
  node: string,
  from: string,
  to: string,
  reason: string,
  numbers: Record<string, number>,
  now_ms: number,
): void {
  const { deps } = collector;
  const record = upstream.events;
  const name = upstream.config.name;
  const seq = Math.max(record.last, asCount(deps.store.get(eventsKey(name)))) + 1;
  record.last = seq;
  const event: HealthEvent = { seq, at_ms: now_ms, wall_s: deps.wallS?.() ?? 0, node, from, to, reason, numbers };
  const text = deps.encode(event);
  // First the event, then the number that says it is there.
  if (text !== undefined && deps.store.set(eventKey(name, seq), text)) deps.store.set(eventsKey(name), seq);
  const kind = `${from}→${to}`;
  record.kinds[kind] = (record.kinds[kind] ?? 0) + 1;
  record.kinds_changed = true;
  addChange(record, now_ms);
  deps.onEvent?.(name, event);
}

const decimals = 1000;

/** Keeps a node's change of state, with the figures it was decided by. */
export function emitTransition(
  collector: Collector,
  upstream: UpstreamRecord,
  node: NodeRecord,
  from: string,
  now_ms: number,
): void {
  const { seen, health } = node;
  const numbers: Record<string, number> = {
    streak: seen.streak,
    failures: seen.failures,
    judged: seen.judged,
    failed: seen.failed,
    in_flight: seen.in_flight,
    oldest_ms: seen.oldest_ms,
    ejections: health.ejections,
  };
  if (health.until_ms !== undefined) numbers["for_s"] = Math.floor(health.until_ms - now_ms) / decimals;
  emit(collector, upstream, node.config.id, from, health.state, health.cause, numbers, now_ms);
}

/**
 * Writes the counts by kind if they have changed, or in any case, so that deleted keys come back.
 *
 * @param whole write what has not changed too
 */
export function publishKinds(collector: Collector, upstream: UpstreamRecord, whole: boolean): void {
  const record = upstream.events;
  if (record.last === 0 || !(record.kinds_changed || whole)) return;
  record.kinds_changed = false;
  if (whole) collector.deps.store.set(eventsKey(upstream.config.name), record.last);
  const text = collector.deps.encode(record.kinds);
  if (text !== undefined) collector.deps.store.set(transitionsKey(upstream.config.name), text);
}

/** Takes over what an earlier collector has written. */
export function takeEvents(collector: Collector, upstream: UpstreamRecord, now_ms: number): void {
  const { store, decode } = collector.deps;
  const name = upstream.config.name;
  const record = upstream.events;
  record.last = asCount(store.get(eventsKey(name)));
  const text = store.get(transitionsKey(name));
  const kinds = typeof text === "string" ? asRecord(decode(text)) : undefined;
  for (const kind in kinds ?? {}) record.kinds[kind] = asCount(kinds?.[kind]);
  for (let seq = record.last; seq > 0 && seq > record.last - EVENTS_MAX; seq--) {
    const stored = store.get(eventKey(name, seq));
    const event = typeof stored === "string" ? parseEvent(decode(stored)) : undefined;
    if (event === undefined || event.at_ms > now_ms || now_ms - event.at_ms > RATE_SECONDS * 1000) return;
    addChange(record, event.at_ms);
  }
}
