/**
 * Working off a backlog: requests wait in the queue faster than they are served, and will not be any younger. New ones
 * of given classes are refused at the door, those that wait are taken by class weight instead of by age, and more of
 * them are let through at a time, in steps, as long as the nodes do not mind. Ends when nothing waits any more. Pure;
 * collector/backlog.ts decides when, dataplane/drain.ts carries it out.
 */
import { CLASS_COUNT } from "./queue";

/** Requests in flight more or less per step, over the upstream. */
export const DRAIN_STEP = 5;

/** Latency may become so many times what it was when draining began, and at least so many ms more (nginx' clock). */
const FLAT_RATIO = 1.2;
const FLAT_MS = 2;

/** And the share of failed tries by so much. */
const FLAT_ERRORS = 0.01;

/** A step that was taken back is not tried again for so many looks. */
const CEILING_LOOKS = 12;

/** Looks in a row with nothing waiting, after which it is over: reports of workers come late. */
const EMPTY_LOOKS = 2;

export interface Drain {
  /** Requests in flight beyond the limits. */
  extra: number;
  /** What was usual when it began; undefined = nothing has been answered since. */
  base_latency_ms: number | undefined;
  base_error_rate: number;
  /** No step before, monotonic ms: the last one must show first. */
  next_step_ms: number;
  /** No step beyond, until then. */
  ceiling: number;
  ceiling_until_ms: number;
  empty_looks: number;
}

/** What the nodes show. */
export interface DrainSeen {
  /** Requests waiting over all workers. */
  waiting: number;
  /** Mean latency of recent successes, ms; undefined = there were none. */
  latency_ms: number | undefined;
  /** Failed ÷ judged tries of late, 0..1. */
  error_rate: number;
}

/** @param extra to go on with, of a drain that another collector began; else 0 */
export function newDrain(extra: number): Drain {
  return {
    extra,
    base_latency_ms: undefined,
    base_error_rate: 0,
    next_step_ms: 0,
    ceiling: Infinity,
    ceiling_until_ms: 0,
    empty_looks: 0,
  };
}

function isFlat(drain: Drain, base_ms: number, seen: DrainSeen): boolean {
  const latency_ms = seen.latency_ms ?? Infinity;
  const allowed_ms = Math.max(base_ms * FLAT_RATIO, base_ms + FLAT_MS);
  return latency_ms <= allowed_ms && seen.error_rate <= drain.base_error_rate + FLAT_ERRORS;
}

/**
 * One look.
 *
 * @param max_extra how far the limits may be exceeded; 0 = not
 * @param look_ms how long a step takes to show in what is seen
 * @param now_ms monotonic ms
 * @returns whether it is over
 */
export function stepDrain(drain: Drain, seen: DrainSeen, max_extra: number, look_ms: number, now_ms: number): boolean {
  drain.empty_looks = seen.waiting > 0 ? 0 : drain.empty_looks + 1;
  if (drain.empty_looks >= EMPTY_LOOKS) return true;
  if (now_ms < drain.next_step_ms) return false;
  const base_ms = drain.base_latency_ms;
  if (base_ms === undefined) {
    if (seen.latency_ms === undefined) return false;
    drain.base_latency_ms = seen.latency_ms;
    drain.base_error_rate = seen.error_rate;
  } else if (!isFlat(drain, base_ms, seen)) {
    drain.extra = Math.max(0, drain.extra - DRAIN_STEP);
    drain.ceiling = drain.extra;
    drain.ceiling_until_ms = now_ms + CEILING_LOOKS * look_ms;
    drain.next_step_ms = now_ms + look_ms;
    return false;
  }
  const ceiling = now_ms < drain.ceiling_until_ms ? drain.ceiling : Infinity;
  drain.extra = Math.max(drain.extra, Math.min(drain.extra + DRAIN_STEP, max_extra, ceiling));
  drain.next_step_ms = now_ms + look_ms;
  return false;
}

/**
 * Whose turn it is, by weights: smooth weighted round robin, as nginx's own, over the classes that wait. So a class
 * gets its share of the places whatever the others' ages, and none starves.
 *
 * @param weights of the classes 1..5, more than 0
 * @param credits moved by `noteClassServed` only
 * @param counts entries waiting, by class − 1
 * @returns 1..5; 0 = nothing waits
 */
export function nextClass(weights: number[], credits: number[], counts: number[]): number {
  let best = 0;
  for (let k = 0; k < CLASS_COUNT; k++) {
    if (counts[k] > 0 && (best === 0 || credits[k] + weights[k] > credits[best - 1] + weights[best - 1])) best = k + 1;
  }
  return best;
}

/** An entry of the class that `nextClass` named has been served; `counts` are those of before. */
export function noteClassServed(weights: number[], credits: number[], counts: number[], cls: number): void {
  let total = 0;
  for (let k = 0; k < CLASS_COUNT; k++) {
    if (counts[k] > 0) {
      credits[k] += weights[k];
      total += weights[k];
    }
  }
  credits[cls - 1] -= total;
}
