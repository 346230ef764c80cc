import { LATENCY_FLOOR_MS } from "./evidence";
import type { UpstreamConfig } from "./model";

/**
 * The adaptive score of a node, from three signals:
 *
 *     score = 0.5·(1 − p99_ratio) + 0.3·(1 − error_ratio) + 0.2·(1 − conn_ratio), within score_min..score_max
 *
 * A node like its fellows, without errors and idle, scores 1. The score multiplies the base weight.
 */

const LATENCY_PART = 0.5;
const ERROR_PART = 0.3;
const CONNECTION_PART = 0.2;

/** Share of a node's capacity past which connections are penalised twice: the queue behind it begins to grow. */
const CROWDED_FROM = 0.9;

/**
 * Most of the extra penalty, reached at 1.1 × the capacity: as far as a node may exceed it. At full
 * capacity it is 1, which costs an otherwise average node 0.4 of its score.
 */
const CROWDED_MAX = 2;

/** A ratio past this moves no score within the default limits; one outlier of few samples must not count for more. */
const RATIO_MAX = 2;

/**
 * What a node's P99 is compared with: the lower median of the nodes' own P99s, the typical node.
 * Not the percentile of all requests pooled: as soon as one slow node serves more than 1 % of them,
 * that percentile *is* the slow node, which then looks normal, gets more traffic, is found slow again
 * once its share falls under 1 %, and so on. The median does not depend on who serves how much. The
 * lower one, because of two nodes the faster shows what is possible.
 *
 * @param p99s_ms P99 of every node in rotation with enough samples; sorted by this call
 * @returns ms; undefined without any
 */
export function referenceP99(p99s_ms: number[]): number | undefined {
  if (p99s_ms.length === 0) return undefined;
  p99s_ms.sort((a, b) => a - b);
  return p99s_ms[Math.floor((p99s_ms.length - 1) / 2)];
}

/**
 * The node's excess over the typical node: 0 when equal, 1 at twice, negative when faster.
 *
 * Few samples can only count against a node, and in proportion: adaptive picks leave a slow node few
 * requests, and for want of samples it must not pass for an average one; but a few quick answers must
 * not make it the best.
 *
 * @param node_ms undefined = no samples: counts as average, never best and never worst
 * @param confidence how much `node_ms` is worth, 0..1
 */
export function p99Ratio(node_ms: number | undefined, reference_ms: number | undefined, confidence: number): number {
  if (node_ms === undefined || reference_ms === undefined) return 0;
  const ratio = (node_ms - reference_ms) / Math.max(reference_ms, LATENCY_FLOOR_MS);
  if (confidence >= 1) return ratio;
  return Math.max(0, Math.min(RATIO_MAX, ratio)) * confidence;
}

/**
 * @param rate failed ÷ judged tries, 0..1
 * @returns 0 up to `error_penalty_from`, then linear to 1 at `eject_error_rate` and beyond
 */
export function errorRatio(rate: number, error_penalty_from: number, eject_error_rate: number): number {
  if (rate <= error_penalty_from) return 0;
  if (rate >= eject_error_rate) return 1;
  return (rate - error_penalty_from) / (eject_error_rate - error_penalty_from);
}

/**
 * @param capacity most requests in flight; 0 = no limit
 * @returns in flight ÷ capacity; past 90 % plus a penalty of 1 per further 10 %, at most 2
 */
export function connRatio(in_flight: number, capacity: number): number {
  if (capacity <= 0) return 0;
  const ratio = in_flight / capacity;
  if (ratio <= CROWDED_FROM) return ratio;
  return ratio + Math.min(CROWDED_MAX, (ratio - CROWDED_FROM) / (1 - CROWDED_FROM));
}

/**
 * Where the score is heading.
 *
 * @param limits `score_min`, `score_max`
 */
export function targetScore(
  p99_ratio: number,
  error_ratio: number,
  conn_ratio: number,
  limits: Pick<UpstreamConfig, "score_min" | "score_max">,
): number {
  const score = LATENCY_PART * (1 - p99_ratio) + ERROR_PART * (1 - error_ratio) + CONNECTION_PART * (1 - conn_ratio);
  return clampScore(score, limits);
}

/** @returns the score within `score_min`..`score_max` */
export function clampScore(score: number, limits: Pick<UpstreamConfig, "score_min" | "score_max">): number {
  return Math.min(limits.score_max, Math.max(limits.score_min, score));
}

/** Differences that only floating point makes: 1 − 4 · 0.2 is not 0.2. */
const ROUNDING = 1e-9;

/**
 * One rate-limited step.
 *
 * @param since_ms time since the score moved last, ms
 * @param step most that it moves at a time
 * @param interval_ms how soon it may move again
 * @returns the new score: unchanged while the interval has not passed
 */
export function stepScore(score: number, target: number, since_ms: number, step: number, interval_ms: number): number {
  if (since_ms < interval_ms) return score;
  if (Math.abs(target - score) <= step + ROUNDING) return target;
  return target > score ? score + step : score - step;
}
