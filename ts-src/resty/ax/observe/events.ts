/** What changed its state lately, and how often: read from the shared store, whoever wrote it. */
import { eventKey, eventsKey, EVENTS_MAX, type HealthEvent, parseEvent, transitionsKey } from "../core/health/events";
import { asCount, asRecord } from "../core/values";
import { jsonList } from "./document";
import type { StatusDeps } from "./status_deps";

/** An event as shown: with its age beside its times. */
export interface EventStatus extends HealthEvent {
  age_s: number;
}

export interface EventsStatus {
  upstream: string;
  /** Events since the shared dict was made. */
  total: number;
  /** Changes of state of the last minute that are still in the log, of the nodes asked for: the best early warning. */
  state_changes_per_min: number;
  /** Counts by kind: "online→suspect". */
  transitions: Record<string, number>;
  /** The newest first; at most EVENTS_MAX. */
  events: EventStatus[];
}

const MINUTE_MS = 60000;

/**
 * API phase.
 * @param upstream name of a configured upstream
 * @param limit most events wanted, 1..EVENTS_MAX
 * @param now_ms monotonic ms
 * @param only id of the node whose events are wanted; absent: all
 */
export function readEvents(
  deps: StatusDeps,
  upstream: string,
  limit: number,
  now_ms: number,
  only?: string,
): EventsStatus {
  const total = asCount(deps.store.get(eventsKey(upstream)));
  const events: EventStatus[] = [];
  let recent = 0;
  for (let seq = total; seq > 0 && seq > total - EVENTS_MAX; seq--) {
    const text = deps.store.get(eventKey(upstream, seq));
    const event = typeof text === "string" ? parseEvent(deps.decode(text)) : undefined;
    // Another number: it is being overwritten just now.
    if (event !== undefined && event.seq === seq && (only === undefined || event.node === only)) {
      const age_ms = now_ms - event.at_ms;
      if (age_ms <= MINUTE_MS) recent++;
      if (events.length < limit) events.push({ ...event, age_s: Math.floor(age_ms) / 1000 });
    }
  }
  const kinds = deps.store.get(transitionsKey(upstream));
  const transitions: Record<string, number> = {};
  for (const [kind, count] of pairs(asRecord(typeof kinds === "string" ? deps.decode(kinds) : undefined) ?? {})) {
    transitions[kind] = asCount(count);
  }
  return { upstream, total, state_changes_per_min: recent, transitions, events: jsonList(events) };
}
