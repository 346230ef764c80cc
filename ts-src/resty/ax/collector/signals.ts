import { blended, queueShare, staleShare, trust, watermarkShare } from "../core/health/stale";
import type { UpstreamConfig } from "../core/model";
import type { UpstreamRecord } from "./state";

/** What nodes report of themselves (with their probes), as a share of their weight. */

/** How often reports come: with every HTTP check; TCP checks bring none. */
const DEFAULT_PERIOD_MS = 10000;

function reportPeriodMs(config: UpstreamConfig): number {
  const interval_s = config.probe?.http?.interval_s;
  return interval_s === undefined ? DEFAULT_PERIOD_MS : interval_s * 1000;
}

/** Means over the nodes whose figures are fresh; undefined without any. */
export interface SignalMeans {
  watermark: number | undefined;
  queue_depth: number | undefined;
  /** How often reports come, ms. */
  period_ms: number;
}

const NONE: SignalMeans = { watermark: undefined, queue_depth: undefined, period_ms: DEFAULT_PERIOD_MS };

/** @returns what the nodes report on average */
export function signalMeans(upstream: UpstreamRecord, has_probes: boolean, now_ms: number): SignalMeans {
  if (!has_probes) return NONE;
  const period_ms = reportPeriodMs(upstream.config);
  let watermark = 0;
  let watermarks = 0;
  let depth = 0;
  let depths = 0;
  for (let i = 0; i < upstream.nodes.length; i++) {
    const probe = upstream.nodes[i].seen.probe;
    if (probe !== undefined && probe.signals_at_ms > 0 && trust(now_ms - probe.signals_at_ms, period_ms) >= 1) {
      if (probe.watermark !== undefined) {
        watermark += probe.watermark;
        watermarks++;
      }
      if (probe.queue_depth !== undefined) {
        depth += probe.queue_depth;
        depths++;
      }
    }
  }
  return {
    watermark: watermarks > 0 ? watermark / watermarks : undefined,
    queue_depth: depths > 0 ? depth / depths : undefined,
    period_ms,
  };
}

/** @returns share of its weight that the node's own account of its load leaves it; 1 when it gives none */
export function signalShare(
  probe: UpstreamRecord["nodes"][number]["seen"]["probe"],
  means: SignalMeans,
  now_ms: number,
): number {
  if (probe === undefined || probe.signals_at_ms <= 0) return 1;
  const age_ms = now_ms - probe.signals_at_ms;
  const trusted = trust(age_ms, means.period_ms);
  let share = staleShare(age_ms, means.period_ms);
  if (probe.watermark !== undefined) share *= watermarkShare(blended(probe.watermark, means.watermark, trusted));
  if (probe.queue_depth !== undefined && means.queue_depth !== undefined) {
    share *= queueShare(blended(probe.queue_depth, means.queue_depth, trusted), means.queue_depth);
  }
  return share;
}
