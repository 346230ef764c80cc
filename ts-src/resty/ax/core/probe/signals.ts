import { type JsonDecoder, type LoadReport, parseLoadReport } from "../orca";

/**
 * What a node says of its own load in the answer to a check.
 *
 *     X-AX-Watermark: 0.42        share of its worker threads that are busy: 0..1, or "42%"
 *     X-AX-Queue-Depth: 17        requests that wait for one
 *     endpoint-load-metrics: …    an ORCA report (core/orca.ts), whose named_metrics or utilization `watermark` and
 *                                 `queue_depth` stand in for the two headers
 */
export interface LoadSignals {
  watermark?: number;
  queue_depth?: number;
  signals?: LoadReport;
}

/** Asks for them; a node that does not know the header ignores it. */
export const PROBE_HEADER = "X-AX-Probe";
export const PROBE_ASKS_FOR = "watermark, queue-depth";

/** @returns a number from 0 up; undefined when the text is none */
function parsePositive(text: string): number | undefined {
  if (text === "" || text.length > 20) return undefined;
  for (let i = 0; i < text.length; i++) if (!"0123456789.".includes(text.charAt(i))) return undefined;
  const value = Number(text);
  return Number.isNaN(value) ? undefined : value;
}

/**
 * @param text "0.42" or "42%". Over 1 without a sign is taken for percent, except that up to 2 it may be a share over
 *   the mark ("1.2").
 * @returns a share; undefined when the text is no such number
 */
export function parseWatermark(text: string): number | undefined {
  const trimmed = text.trim();
  const is_percent = trimmed.endsWith("%");
  const value = parsePositive(is_percent ? trimmed.substring(0, trimmed.length - 1).trim() : trimmed);
  if (value === undefined) return undefined;
  return is_percent || value > 2 ? value / 100 : value;
}

function named(report: LoadReport | undefined, name: string): number | undefined {
  if (report === undefined) return undefined;
  const metric = report[`named_metrics.${name}`] as number | undefined;
  const value = metric ?? report[`utilization.${name}`];
  return value !== undefined && value >= 0 ? value : undefined;
}

/**
 * @param headers by lower-case name
 * @param decode reads JSON
 */
export function readSignals(headers: Record<string, string | undefined>, decode: JsonDecoder): LoadSignals {
  const orca = headers["endpoint-load-metrics"];
  const orca_json = headers["endpoint-load-metrics-json"];
  let report: LoadReport | undefined;
  if (orca !== undefined) report = parseLoadReport(orca, decode);
  else if (orca_json !== undefined) report = parseLoadReport(`JSON ${orca_json}`, decode);
  const watermark = parseWatermark(headers["x-ax-watermark"] ?? "");
  const queue_depth = parsePositive((headers["x-ax-queue-depth"] ?? "").trim());
  return {
    watermark: watermark ?? named(report, "watermark"),
    queue_depth: queue_depth ?? named(report, "queue_depth"),
    signals: report,
  };
}
