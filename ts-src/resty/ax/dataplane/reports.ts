import { MAX_REPORT_BYTES } from "../core/node_report";
import type { Counters } from "./counters";

/**
 * The load reports of one upstream's nodes, on their way from answers to the collector. Written by the log phase of
 * this worker; lives as long as it does. Workers do not read them: they keep the last text of each node until the next
 * flush, and the collector reads one per node and look.
 */
export interface Reports {
  /** By node: when its next answer is looked at, monotonic ms. */
  due_ms: number[];
}

/**
 * Time between two reports of a node that a worker passes on. The collector looks about twice a second: of several
 * between two looks all but the last would be thrown away. So a worker copies at most 2 headers a second and node,
 * however many requests there are.
 */
export const REPORT_EVERY_MS = 500;

/** An answer without the header says nothing of the next one: so soon, a flush later, another one is looked at. */
export const LOOK_AGAIN_MS = 100;

export function newReports(n: number): Reports {
  const reports: Reports = { due_ms: [] };
  for (let node = 0; node < n; node++) reports.due_ms[node] = 0;
  return reports;
}

/**
 * Takes what an answer had for a header. Log phase, for a node that is due.
 * @param header undefined: the answer had none
 */
export function takeReport(
  reports: Reports,
  counters: Counters,
  node: number,
  header: string | undefined,
  now_ms: number,
): void {
  if (header === undefined || header === "") {
    reports.due_ms[node] = now_ms + LOOK_AGAIN_MS;
    return;
  }
  reports.due_ms[node] = now_ms + REPORT_EVERY_MS;
  // Cut where it is known to be too long: what is wrong with it has to be counted.
  counters.report[node] = header.length > MAX_REPORT_BYTES ? string.sub(header, 1, MAX_REPORT_BYTES + 1) : header;
}
