/**
 * How much a figure that a node reports of itself is worth, by its age: never best, never zero. Fresh reports count in
 * full; after 10 s (reports come every 5 s) half; after three missed periods nothing is left of the figure, and the mean
 * of the other nodes stands in its place; from there on the node's share falls as well, for nobody knows it any more.
 */

/** requirements/strategies.md: reports come every 5 s; one older than this has been missed. */
export const STALE_AFTER_MS = 10000;

/** Reports missed in a row after which the figure is not used at all. */
const MISSED_PERIODS = 3;

/** How long the share then takes to fall to `OLD_SHARE`: as long as a long window. */
const DECAY_MS = 60000;

/** What is left of a node that has long been silent about itself: it still serves, and is still measured by its answers. */
const OLD_SHARE = 0.5;

/** What a figure that is neither fresh nor gone counts. */
const STALE_TRUST = 0.5;

/**
 * @param age_ms since the report came; Infinity = there never was one
 * @param period_ms how often reports come
 * @returns how much of the figure counts, 0..1
 */
export function trust(age_ms: number, period_ms: number): number {
  if (age_ms <= Math.max(STALE_AFTER_MS, period_ms)) return 1;
  return age_ms <= Math.max(STALE_AFTER_MS, MISSED_PERIODS * period_ms) ? STALE_TRUST : 0;
}

/**
 * @param others mean of the other nodes; undefined when there is none
 * @returns the figure to go by; undefined: it is too old, and there is nothing to stand in for it
 */
export function blended(value: number, others: number | undefined, trusted: number): number | undefined {
  if (others === undefined) return trusted > 0 ? value : undefined;
  return trusted * value + (1 - trusted) * others;
}

/** @returns share of its weight that the age of its reports leaves a node, OLD_SHARE..1; 1 for one that never reported */
export function staleShare(age_ms: number, period_ms: number): number {
  if (age_ms === Infinity) return 1;
  const gone_ms = age_ms - Math.max(STALE_AFTER_MS, MISSED_PERIODS * period_ms);
  if (gone_ms <= 0) return 1;
  return 1 - (1 - OLD_SHARE) * Math.min(1, gone_ms / DECAY_MS);
}

/** Up to here a thread pool has room: nothing is taken off. */
const WATERMARK_FROM = 0.6;

/** From here on probes fail (requirements/scheduler.md); the share has reached FULL_SHARE then. */
const WATERMARK_FULL = 0.85;

const FULL_SHARE = 0.5;

/** @param watermark how full the node's pool is, 0..1 @returns share of its weight that leaves it, FULL_SHARE..1 */
export function watermarkShare(watermark: number): number {
  const over = (watermark - WATERMARK_FROM) / (WATERMARK_FULL - WATERMARK_FROM);
  return 1 - (1 - FULL_SHARE) * Math.max(0, Math.min(1, over));
}

/** @returns share by the node's own queue against the others' mean: 1 up to twice the mean, then in inverse proportion */
export function queueShare(depth: number, others: number): number {
  const usual = 2 * (others + 1);
  return depth <= usual ? 1 : Math.max(FULL_SHARE, usual / depth);
}
