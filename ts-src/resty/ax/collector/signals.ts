import { blended, queueShare, staleShare, trust, watermarkShare } from "../core/health/stale";
import type { Seen } from "../core/health/record";
import type { UpstreamConfig } from "../core/model";
import type { NodeRecord, UpstreamRecord } from "./state";

/** What nodes report of themselves, with their probes or with their answers to requests, as a share of their weight. */

/** How often reports come with probes: with every HTTP check; TCP checks bring none. */
const DEFAULT_PERIOD_MS = 10000;

/** How often reports with answers are taken to come (requirements/strategies.md): it depends on who is asked what. */
const ANSWERS_PERIOD_MS = 5000;

/** The figures that weights go by; those of a ProbeView and of a NodeReport alike. */
interface Figures {
  watermark?: number;
  queue_depth?: number;
  /** When they came, monotonic ms; 0 = never. */
  signals_at_ms: number;
}

/** @returns the newer of the two accounts that there are of a node; undefined: there is none */
function figuresOf(seen: Seen): Figures | undefined {
  const { probe, report } = seen;
  if (probe === undefined || probe.signals_at_ms <= 0) return report;
  return report !== undefined && report.signals_at_ms >= probe.signals_at_ms ? report : probe;
}

function reportPeriodMs(figures: Figures, seen: Seen, config: UpstreamConfig): number {
  if (figures === seen.report) return ANSWERS_PERIOD_MS;
  const interval_s = config.probe?.http?.interval_s;
  return interval_s === undefined ? DEFAULT_PERIOD_MS : interval_s * 1000;
}

/** Means over the nodes whose figures are fresh; undefined without any. */
export interface SignalMeans {
  watermark: number | undefined;
  queue_depth: number | undefined;
}

const NONE: SignalMeans = { watermark: undefined, queue_depth: undefined };

/** @returns what the nodes report on average */
export function signalMeans(upstream: UpstreamRecord, has_probes: boolean, now_ms: number): SignalMeans {
  if (!has_probes && !upstream.config.orca) return NONE;
  let watermark = 0;
  let watermarks = 0;
  let depth = 0;
  let depths = 0;
  for (let i = 0; i < upstream.nodes.length; i++) {
    const { seen } = upstream.nodes[i];
    const figures = figuresOf(seen);
    if (figures === undefined) continue;
    if (trust(now_ms - figures.signals_at_ms, reportPeriodMs(figures, seen, upstream.config)) < 1) continue;
    if (figures.watermark !== undefined) {
      watermark += figures.watermark;
      watermarks++;
    }
    if (figures.queue_depth !== undefined) {
      depth += figures.queue_depth;
      depths++;
    }
  }
  return {
    watermark: watermarks > 0 ? watermark / watermarks : undefined,
    queue_depth: depths > 0 ? depth / depths : undefined,
  };
}

/**
 * Whether the silence is the node's own: probes ask, and an answer to a request has the report with it. One that got no
 * requests had nothing to report with.
 */
function isSilent(node: NodeRecord, figures: Figures): boolean {
  const { short } = node.windows;
  return figures !== node.seen.report || short.total.ok + short.total.err > 0;
}

/** @returns share of its weight that the node's own account of its load leaves it; 1 when it gives none */
export function signalShare(node: NodeRecord, config: UpstreamConfig, means: SignalMeans, now_ms: number): number {
  const { seen } = node;
  const figures = figuresOf(seen);
  if (figures === undefined) return 1;
  const age_ms = now_ms - figures.signals_at_ms;
  const period_ms = reportPeriodMs(figures, seen, config);
  const trusted = trust(age_ms, period_ms);
  let share = isSilent(node, figures) ? staleShare(age_ms, period_ms) : 1;
  if (figures.watermark !== undefined) {
    const watermark = blended(figures.watermark, means.watermark, trusted);
    if (watermark !== undefined) share *= watermarkShare(watermark);
  }
  if (figures.queue_depth !== undefined && means.queue_depth !== undefined) {
    const depth = blended(figures.queue_depth, means.queue_depth, trusted);
    if (depth !== undefined) share *= queueShare(depth, means.queue_depth);
  }
  return share;
}
