import type { NodeEvent, NodeMode, NodeSpec } from "./job";

/**
 * What a node is like over time, known beforehand: spans of constant speed, mode and error share. So the
 * end of a piece of work is known when it begins, whatever happens to the node meanwhile.
 */
export interface Timeline {
  /** Begin of span k, ms; ascending, the first at 0. */
  from_ms: number[];
  speed: number[];
  mode: NodeMode[];
  error_share: number[];
  /** Failing requests take their time and a slot. */
  errors_work: boolean[];
  /** The span that holds the present: moves forward only. */
  at: number;
}

/** One occurrence of an event. */
interface Span {
  from_ms: number;
  to_ms: number;
  event: NodeEvent;
}

function occurrences(event: NodeEvent, end_ms: number): Span[] {
  const spans: Span[] = [];
  const length_ms = event.for_s > 0 ? event.for_s * 1000 : Infinity;
  const every_ms = event.every_s * 1000;
  let from_ms = event.from_s * 1000;
  if (every_ms <= 0) return [{ from_ms, to_ms: from_ms + length_ms, event }];
  // Those that began before the start, too: a repeated event has no first time.
  while (from_ms > 0) from_ms -= every_ms;
  for (; from_ms < end_ms; from_ms += every_ms) spans.push({ from_ms, to_ms: from_ms + length_ms, event });
  return spans;
}

function boundaries(spans: Span[]): number[] {
  const all: number[] = [0];
  for (const span of spans) {
    if (span.from_ms > 0) all.push(span.from_ms);
    if (span.to_ms > 0 && span.to_ms < Infinity) all.push(span.to_ms);
  }
  all.sort((a, b) => a - b);
  const distinct: number[] = [];
  for (const at_ms of all) {
    if (distinct.length === 0 || at_ms > distinct[distinct.length - 1]) distinct.push(at_ms);
  }
  return distinct;
}

/** @param end_ms nothing is asked about later times but how they begin */
export function newTimeline(spec: NodeSpec, end_ms: number): Timeline {
  const spans: Span[] = [];
  for (const event of spec.events) for (const span of occurrences(event, end_ms)) spans.push(span);
  const timeline: Timeline = {
    from_ms: boundaries(spans),
    speed: [],
    mode: [],
    error_share: [],
    errors_work: [],
    at: 0,
  };
  for (const from_ms of timeline.from_ms) {
    let speed = spec.speed;
    let mode: NodeMode = "up";
    let error_share = 0;
    let errors_work = false;
    for (const span of spans) {
      if (span.from_ms <= from_ms && from_ms < span.to_ms) {
        speed *= span.event.speed;
        if (span.event.mode !== "up") mode = span.event.mode;
        error_share = Math.max(error_share, span.event.error_share);
        if (span.event.errors_work) errors_work = true;
      }
    }
    timeline.speed.push(speed);
    timeline.mode.push(mode);
    timeline.error_share.push(error_share);
    timeline.errors_work.push(errors_work);
  }
  return timeline;
}

/** Brings the timeline to the present. */
export function advance(timeline: Timeline, now_ms: number): void {
  const from_ms = timeline.from_ms;
  while (timeline.at + 1 < from_ms.length && from_ms[timeline.at + 1] <= now_ms) timeline.at++;
}

/**
 * When work that begins now ends. A node that goes down breaks it off.
 * @param demand_ms at speed 1
 * @returns the time, and whether it was broken off; Infinity when the node never goes on
 */
export function workEnds(timeline: Timeline, now_ms: number, demand_ms: number): LuaMultiReturn<[number, boolean]> {
  advance(timeline, now_ms);
  const { from_ms, speed, mode } = timeline;
  let k = timeline.at;
  let t_ms = now_ms;
  let left_ms = demand_ms;
  for (;;) {
    const end_ms = k + 1 < from_ms.length ? from_ms[k + 1] : Infinity;
    const done_ms = speed[k] > 0 ? (end_ms - t_ms) * speed[k] : 0;
    if (done_ms >= left_ms) return $multi(t_ms + left_ms / speed[k], false);
    if (end_ms === Infinity) return $multi(Infinity, false);
    left_ms -= done_ms;
    t_ms = end_ms;
    k++;
    if (mode[k] === "down") return $multi(t_ms, true);
  }
}

/**
 * @returns speed of work that ends in an answer, mean over a time; 0 while the node serves nothing. Requests that fail at
 *   once take none of it.
 */
export function meanSpeed(timeline: Timeline, from_ms: number, to_ms: number): number {
  let done = 0;
  for (let k = 0; k < timeline.from_ms.length; k++) {
    const begin = Math.max(from_ms, timeline.from_ms[k]);
    const end = Math.min(to_ms, k + 1 < timeline.from_ms.length ? timeline.from_ms[k + 1] : to_ms);
    if (end > begin && timeline.mode[k] === "up") {
      const lost = timeline.errors_work[k] ? timeline.error_share[k] : 0;
      done += (end - begin) * timeline.speed[k] * (1 - lost);
    }
  }
  return done / (to_ms - from_ms);
}
