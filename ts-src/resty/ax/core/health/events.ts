import { asNumber, asRecord } from "../values";

/**
 * Changes of state as events: kept in a bounded log per upstream in the shared store, one key each, so that writing one
 * costs the same however many there are. Written by the collector; read by the API and by the next collector; they
 * survive reloads and elections.
 */
export interface HealthEvent {
  /** Numbered from 1 in the upstream. */
  seq: number;
  /** Monotonic ms: for order and ages. */
  at_ms: number;
  /** Wall clock, Unix seconds: for people and logs. Nothing is decided by it. */
  wall_s: number;
  /** The node; "" when it is about the upstream (panic) or a host. */
  node: string;
  /** States; for panic "normal" and "panic", for a host "trusted" and "suspect". */
  from: string;
  to: string;
  /** Why, in words. */
  reason: string;
  /** The figures it was decided by. */
  numbers: Record<string, number>;
}

/** Events kept per upstream: an hour of a flapping node, and below 100 kB. */
export const EVENTS_MAX = 256;

/** @returns key of the number of events so far */
export function eventsKey(upstream: string): string {
  return `events:${upstream}`;
}

/** @returns key of one event: the place of the one EVENTS_MAX before it */
export function eventKey(upstream: string, seq: number): string {
  return `event:${upstream}:${seq % EVENTS_MAX}`;
}

/** @returns key of the counts by kind, a JSON object: "online→suspect": 3 */
export function transitionsKey(upstream: string): string {
  return `transitions:${upstream}`;
}

/** @returns the event, or undefined when the value is none */
export function parseEvent(value: unknown): HealthEvent | undefined {
  const given = asRecord(value);
  const seq = asNumber(given?.["seq"]);
  const at_ms = asNumber(given?.["at_ms"]);
  if (given === undefined || seq === undefined || at_ms === undefined) return undefined;
  const numbers: Record<string, number> = {};
  const raw = asRecord(given["numbers"]) ?? {};
  for (const name in raw) numbers[name] = asNumber(raw[name]) ?? 0;
  return {
    seq,
    at_ms,
    wall_s: asNumber(given["wall_s"]) ?? 0,
    node: text(given["node"]),
    from: text(given["from"]),
    to: text(given["to"]),
    reason: text(given["reason"]),
    numbers,
  };
}

function text(value: unknown): string {
  return typeof value === "string" ? value : "";
}

/** @returns the event for the error log: `, node "a": online → suspect: 3 failures in a row` */
export function eventText(event: HealthEvent): string {
  const node = event.node === "" ? "" : `, node "${event.node}"`;
  return `${node}: ${event.from} → ${event.to}: ${event.reason}`;
}
