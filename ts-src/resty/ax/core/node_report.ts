import { type JsonDecoder, type LoadReport, parseLoadReport } from "./orca";
import { asCount, asNumber, asRecord } from "./values";

/**
 * What a node says of its own load in its answers to users' requests (option `orca`): the header
 * `endpoint-load-metrics` of core/orca.ts, which workers pass on as text and the collector reads here.
 */
export interface NodeReport {
  /** How busy it is, 0..1 (more when it says so); absent when it does not say. The signal of a probe's watermark. */
  watermark?: number;
  /** The figure that is: "named_metrics.watermark", "cpu_utilization", … */
  watermark_of?: string;
  /** Requests that wait inside the node; absent when it does not say. */
  queue_depth?: number;
  /** All that it reported. */
  signals: LoadReport;
  /** When it came, monotonic ms. */
  signals_at_ms: number;
  /** Reports in a row over the limit; 0 after one clearly under it. */
  over_in_row: number;
}

/** Longer headers are no report: it is kept for every node, and goes through shared memory. */
export const MAX_REPORT_BYTES = 2048;

/** Reports over the limit in a row until the node counts as overloaded: one or two may be a burst. As for slow checks. */
export const OVER_AFTER = 3;

/** So far below the limit it is over: a node that hovers about it is to stay on one side. */
const UNDER_BY = 0.05;

/** A node that says it is more than 100 times full does not know what it says. */
const MOST_FULL = 100;

/** As many requests waiting as nobody has. */
const MOST_QUEUED = 1e9;

/**
 * What tells how busy the node is, the most telling first: its own account of its pool; then what gRFC A58 (gRPC's
 * weighted round robin) goes by, in its order.
 */
const BUSY_FIGURES: readonly string[] = [
  "named_metrics.watermark",
  "utilization.watermark",
  "application_utilization",
  "cpu_utilization",
];

const QUEUE_FIGURES: readonly string[] = ["named_metrics.queue_depth", "utilization.queue_depth"];

/** @returns the first of these figures that is within 0..most; undefined: none is */
function firstOf(report: LoadReport, names: readonly string[], most: number): string | undefined {
  for (let i = 0; i < names.length; i++) {
    const value = report[names[i]] as number | undefined;
    if (value !== undefined && value >= 0 && value <= most) return names[i];
  }
  return undefined;
}

function countOver(watermark: number | undefined, before: NodeReport | undefined, limit: number): number {
  const so_far = before?.over_in_row ?? 0;
  if (watermark === undefined) return 0;
  if (watermark > limit) return so_far + 1;
  return watermark < limit - UNDER_BY ? 0 : so_far;
}

/**
 * @param text the header, as received
 * @param before the node's last report
 * @param limit from where on it is too busy, 0..1
 * @param at_ms when it came, monotonic ms
 * @returns undefined: there is no figure in it that can be read
 */
export function readNodeReport(
  text: string,
  decode: JsonDecoder,
  before: NodeReport | undefined,
  limit: number,
  at_ms: number,
): NodeReport | undefined {
  if (text.length > MAX_REPORT_BYTES) return undefined;
  const signals = parseLoadReport(text, decode);
  if (signals === undefined) return undefined;
  const watermark_of = firstOf(signals, BUSY_FIGURES, MOST_FULL);
  const queue = firstOf(signals, QUEUE_FIGURES, MOST_QUEUED);
  const watermark = watermark_of === undefined ? undefined : signals[watermark_of];
  return {
    watermark,
    watermark_of,
    queue_depth: queue === undefined ? undefined : signals[queue],
    signals,
    signals_at_ms: at_ms,
    over_in_row: countOver(watermark, before, limit),
  };
}

/**
 * Goes on from what the collector before has published.
 * @param given from the store: not trusted
 * @param now_ms monotonic ms
 */
export function restoreNodeReport(given: unknown, now_ms: number): NodeReport | undefined {
  const old = asRecord(given);
  const at_ms = asNumber(old?.signals_at_ms);
  if (old === undefined || at_ms === undefined || at_ms <= 0 || at_ms > now_ms) return undefined;
  const signals: LoadReport = {};
  const figures = asRecord(old.signals) ?? {};
  for (const name in figures) {
    const value = asNumber(figures[name]);
    if (value !== undefined) signals[name] = value;
  }
  const watermark = asNumber(old.watermark);
  const queue_depth = asNumber(old.queue_depth);
  return {
    watermark: watermark !== undefined && watermark >= 0 ? watermark : undefined,
    watermark_of: typeof old.watermark_of === "string" ? old.watermark_of : undefined,
    queue_depth: queue_depth !== undefined && queue_depth >= 0 ? queue_depth : undefined,
    signals,
    signals_at_ms: at_ms,
    over_in_row: Math.floor(asCount(old.over_in_row)),
  };
}
