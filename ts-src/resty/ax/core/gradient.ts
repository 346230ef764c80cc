/**
 * The adaptive concurrency limit of one node: as many requests in flight as it works on at a time, found by its
 * latency. Pure; the collector feeds it (collector/adaptive_limit.ts).
 *
 * After Envoy's adaptive concurrency filter (gradient controller, envoyproxy.io "Adaptive Concurrency") and Gradient2
 * of Netflix' concurrency-limits (github.com/Netflix/concurrency-limits):
 *
 *     gradient = clamp(tolerance · base / latency, 0.5, 1)        latency, base: medians
 *     limit    = clamp(limit · gradient + √limit / 2, min, max)
 *
 * `base` is the latency of the node with next to nothing to do. It is measured, as in Envoy: every `probe_interval_ms`
 * the limit goes down to `probe` until so many answers have come; and without that whenever the node has no more in
 * flight anyway. Netflix' running mean needs no measuring, but under lasting overload it becomes the overloaded
 * latency, and the limit grows without end.
 *
 * Deviations, with the reason:
 * - `probe`, how far the limit goes down for measuring, is another number than `min`, the least limit in operation. In
 *   Envoy they are one: low enough to measure by, it lets a wrong base choke the node.
 * - Headroom √limit / 2, not √limit: with 10 in flight the whole root is a third of them, and waits at the node.
 * - While less than half of the limit is used it does not move (Gradient2): an idle node proves nothing. But when the
 *   gradient is at its least, the limit begins at what is used: 50 clients in a closed loop never have more in flight.
 * - Before the first base the limit is `max`: one that nobody has measured must not refuse anything.
 * - A tenth of failed tries lowers it too: a node that answers overload with time-outs has no latencies to show.
 */
import { addSparse, clearCounts, percentile } from "./histogram";

export interface GradientOptions {
  /** Least limit in operation, 1 or more. */
  min: number;
  /** Most: what would be in force without this. Not less than `min`. */
  max: number;
  /** Limit while `base` is measured, 1 or more. */
  probe: number;
  /** How old `base` may become, ms. */
  probe_interval_ms: number;
  /** How many times `base` the latency may be, 1 or more. */
  tolerance: number;
}

export const enum Phase {
  /** In operation. */
  Steady = 0,
  /** The limit is `probe`; more than that is still in flight. */
  Emptying = 1,
  /** No more than `probe` is in flight: what is answered now makes the next base. */
  Measuring = 2,
}

/** Written by `observe` and `step` only; lives as long as its collector. */
export interface Gradient {
  /** In operation; a fraction is kept. */
  limit: number;
  /** Median latency with next to nothing to do, ms; undefined = not known yet. */
  base_ms: number | undefined;
  /** When the next measuring is due, monotonic ms. */
  probe_due_ms: number;
  phase: Phase;
  phase_since_ms: number;
  /** Median of the last sample, ms. */
  latency_ms: number | undefined;
  /** Samples in a row that left the limit at `min`. */
  at_min: number;
  /** The last measuring came to nothing: until the next is due, being at `min` is no reason for another. */
  gave_up: boolean;
  /** The sample under way: successes, their latencies, failures, most in flight, since when. */
  ok: number;
  sum_ms: number;
  hist: number[];
  failed: number;
  peak: number;
  since_ms: number;
}

/** Answers that make a sample: the median of so many exponential latencies is off by a fifth. */
const SAMPLE = 50;

/** After this time fewer will do, ms; and how many. */
const SAMPLE_MAX_MS = 2000;
const SAMPLE_LEAST = 10;

/** Longest measuring, and longest wait for the node to have no more than `probe` in flight, ms. */
const MEASURE_MAX_MS = 5000;

/** Lowest gradient: no sample halves the limit. Envoy's and Netflix' too. */
const GRADIENT_MIN = 0.5;

/** Share of failed tries from which on the limit goes down by that much (Netflix' AIMDLimit: 0.9). */
const FAILED_SHARE = 0.1;
const BACK_OFF = 0.9;

/** Samples at `min` after which the base is taken for wrong, and measured anew (Envoy: 5 windows). */
const AT_MIN_MAX = 5;

/** nginx' clock has steps of 1 ms: latencies that differ by less than this do not differ, ms. */
const RESOLUTION_MS = 2;

export function newGradient(options: GradientOptions, now_ms: number): Gradient {
  return {
    limit: options.max,
    base_ms: undefined,
    probe_due_ms: now_ms,
    phase: Phase.Steady,
    phase_since_ms: now_ms,
    latency_ms: undefined,
    at_min: 0,
    gave_up: false,
    ok: 0,
    sum_ms: 0,
    hist: [],
    failed: 0,
    peak: 0,
    since_ms: now_ms,
  };
}

/** @returns the limit in force, a whole number */
export function limitInForce(gradient: Gradient, options: GradientOptions): number {
  if (gradient.phase !== Phase.Steady) return Math.min(options.probe, options.max);
  return Math.floor(Math.min(Math.max(gradient.limit, options.min), options.max));
}

/**
 * Adds what has happened at the node since the last call.
 *
 * @param ok successes
 * @param hist their latencies, a sparse histogram (core/histogram.ts)
 * @param sum_ms sum of their latencies
 * @param failed tries that failed
 */
export function observe(gradient: Gradient, ok: number, hist: number[], sum_ms: number, failed: number): void {
  gradient.ok += ok;
  gradient.sum_ms += sum_ms;
  if (ok > 0) addSparse(gradient.hist, hist, 1);
  gradient.failed += failed;
}

function beginSample(gradient: Gradient, now_ms: number): void {
  gradient.ok = 0;
  gradient.sum_ms = 0;
  clearCounts(gradient.hist);
  gradient.failed = 0;
  gradient.peak = 0;
  gradient.since_ms = now_ms;
}

function enter(gradient: Gradient, phase: Phase, now_ms: number): void {
  gradient.phase = phase;
  gradient.phase_since_ms = now_ms;
  beginSample(gradient, now_ms);
}

function setBase(gradient: Gradient, options: GradientOptions, now_ms: number): void {
  gradient.base_ms = percentile(gradient.hist, gradient.ok, 0.5);
  gradient.at_min = 0;
  gradient.gave_up = false;
  gradient.probe_due_ms = now_ms + options.probe_interval_ms;
}

/** Measuring has come to nothing: streams hold the node, or it has nothing to do. The next one is not before its time. */
function giveUp(gradient: Gradient, options: GradientOptions, now_ms: number): void {
  gradient.at_min = 0;
  gradient.gave_up = true;
  gradient.probe_due_ms = now_ms + options.probe_interval_ms;
  enter(gradient, Phase.Steady, now_ms);
}

function measure(gradient: Gradient, options: GradientOptions, in_flight: number, now_ms: number): void {
  const lasted_ms = now_ms - gradient.phase_since_ms;
  if (gradient.phase === Phase.Emptying) {
    if (in_flight <= options.probe) enter(gradient, Phase.Measuring, now_ms);
    else if (lasted_ms >= MEASURE_MAX_MS) giveUp(gradient, options, now_ms);
  } else if (gradient.ok >= SAMPLE || (lasted_ms >= MEASURE_MAX_MS && gradient.ok >= SAMPLE_LEAST)) {
    setBase(gradient, options, now_ms);
    enter(gradient, Phase.Steady, now_ms);
  } else if (lasted_ms >= MEASURE_MAX_MS) {
    giveUp(gradient, options, now_ms);
  }
}

/** Whether the sample is of a node with next to nothing to do: by Little's law, and at every look. */
function isUnloaded(gradient: Gradient, options: GradientOptions, now_ms: number): boolean {
  const lasted_ms = now_ms - gradient.since_ms;
  return (
    gradient.ok >= SAMPLE && gradient.peak <= options.probe && gradient.sum_ms <= options.probe * Math.max(1, lasted_ms)
  );
}

function adapt(gradient: Gradient, options: GradientOptions, base_ms: number, latency_ms: number): void {
  const allowed_ms = Math.max(options.tolerance * base_ms, base_ms + RESOLUTION_MS);
  const ratio = latency_ms > 0 ? allowed_ms / latency_ms : 1;
  // What is not used says nothing about how much could be; unless what is used is far too much.
  const is_used = gradient.peak >= gradient.limit / 2;
  if (!is_used && ratio > GRADIENT_MIN) return;
  const from = is_used ? gradient.limit : Math.max(gradient.peak, options.min);
  const wanted = from * Math.min(1, Math.max(GRADIENT_MIN, ratio)) + Math.sqrt(from) / 2;
  gradient.limit = Math.min(Math.max(wanted, options.min), options.max);
  gradient.at_min = gradient.limit <= options.min ? gradient.at_min + 1 : 0;
}

function judge(gradient: Gradient, options: GradientOptions, now_ms: number): void {
  const judged = gradient.ok + gradient.failed;
  if (isUnloaded(gradient, options, now_ms)) {
    setBase(gradient, options, now_ms);
  } else if (gradient.failed >= judged * FAILED_SHARE && gradient.failed > 0) {
    if (gradient.base_ms !== undefined) gradient.limit = Math.max(options.min, gradient.limit * BACK_OFF);
  } else if (gradient.base_ms !== undefined) {
    gradient.latency_ms = percentile(gradient.hist, gradient.ok, 0.5);
    adapt(gradient, options, gradient.base_ms, gradient.latency_ms);
  }
  beginSample(gradient, now_ms);
}

/** Whether the base is to be measured now, if the node may be: it is old, or was never known, or is wrong. */
export function wantsProbe(gradient: Gradient, now_ms: number): boolean {
  const seems_wrong = gradient.at_min >= AT_MIN_MAX && !gradient.gave_up;
  return gradient.phase === Phase.Steady && (now_ms >= gradient.probe_due_ms || seems_wrong);
}

/**
 * One look, after `observe`.
 *
 * @param in_flight requests in flight at the node
 * @param may_probe the limit may be lowered for measuring: no other node of the upstream is being measured
 * @param now_ms monotonic ms
 */
export function step(
  gradient: Gradient,
  options: GradientOptions,
  in_flight: number,
  may_probe: boolean,
  now_ms: number,
): void {
  if (gradient.phase !== Phase.Steady) {
    measure(gradient, options, in_flight, now_ms);
    return;
  }
  gradient.peak = Math.max(gradient.peak, in_flight);
  const judged = gradient.ok + gradient.failed;
  const is_old = now_ms - gradient.since_ms >= SAMPLE_MAX_MS;
  if (judged >= SAMPLE || (is_old && judged >= SAMPLE_LEAST)) judge(gradient, options, now_ms);
  else if (is_old && judged === 0) beginSample(gradient, now_ms);
  if (!may_probe || !wantsProbe(gradient, now_ms)) return;
  // With nothing in flight there is nothing to measure, and no hurry.
  if (in_flight > 0) enter(gradient, Phase.Emptying, now_ms);
}
