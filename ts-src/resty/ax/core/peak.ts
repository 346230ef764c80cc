/**
 * "Peak EWMA" of a latency, as in Finagle (PeakEwma.scala) and tower (load/peak_ewma.rs): a slower
 * answer counts in full at once, a faster one only by the time since the last, so that a node which
 * stalls is left at its first slow answer and trusted again slowly.
 *
 * Deviation: 1 − e^(−t/T) is taken as t/(t + T), which costs no exponential and differs by less than
 * 0.21 anywhere; like theirs it is 0 for answers in the same tick.
 */

/** Time constant of the way down: Finagle's default, 10 s. */
const PEAK_DECAY_MS = 10000;

/**
 * @param elapsed_ms since the answer before, at least 0
 * @returns the new peak, ms
 */
export function nextPeak(peak_ms: number, latency_ms: number, elapsed_ms: number): number {
  if (latency_ms >= peak_ms) return latency_ms;
  return peak_ms + (elapsed_ms / (elapsed_ms + PEAK_DECAY_MS)) * (latency_ms - peak_ms);
}
