import { STALE_AFTER_MS } from "../core/health/stale";
import { OVER_AFTER, readNodeReport } from "../core/node_report";
import type { UpstreamConfig } from "../core/model";
import { breathe, type Collector, type NodeRecord } from "./state";

/** What nodes say of their load in their answers to requests: from the workers' texts to what health and weights go by. */

/** As `max_watermark` of probes (requirements: from 85 % on a node is not healthy), where there are none. */
const LIMIT = 0.85;

/** A report costs about as much as so many looks at a node. */
const READING = 4;

function limitOf(config: UpstreamConfig): number {
  return config.probe?.max_watermark ?? LIMIT;
}

/** Keeps the newest of all workers' texts. It is read at the next look: one per node and look, however many workers. */
export function noteReport(node: NodeRecord, text: string, at_ms: number): void {
  if (at_ms < node.report_at_ms) return;
  node.report_text = text;
  node.report_at_ms = at_ms;
}

/** Reads what came since the last look. What cannot be read is counted, and changes nothing. */
export function takeReport(collector: Collector, node: NodeRecord, config: UpstreamConfig, now_ms: number): void {
  const { seen, detail } = node;
  if (node.report_text !== "") {
    const read = readNodeReport(
      node.report_text,
      collector.deps.decode,
      seen.report,
      limitOf(config),
      node.report_at_ms,
    );
    node.report_text = "";
    if (read === undefined) detail.reports_bad_total = (detail.reports_bad_total ?? 0) + 1;
    else seen.report = read;
    breathe(collector, READING);
  }
  const report = seen.report;
  const is_fresh = report !== undefined && now_ms - report.signals_at_ms <= STALE_AFTER_MS;
  seen.overloaded = is_fresh && report.over_in_row >= OVER_AFTER;
}
