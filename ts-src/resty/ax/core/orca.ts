/**
 * Load reports in response headers, as ORCA has them (Open Request Cost Aggregation): the fields of
 * xds/data/orca/v3/orca_load_report.proto (cncf/xds), the header `endpoint-load-metrics` as Envoy's
 * source/common/orca/orca_parser.cc reads it:
 *
 *     endpoint-load-metrics: TEXT cpu_utilization=0.3, mem_utilization=0.8, named_metrics.queue=17
 *     endpoint-load-metrics: JSON {"cpu_utilization": 0.3, "named_metrics": {"queue": 17}}
 *     endpoint-load-metrics: BIN CTMzMzMzM9M/        (orca_bin.ts)
 *
 * Deviations from Envoy: ":" and "=" are both taken (its versions differ), entries that cannot be read and the second of
 * a name are left out instead of the whole report, and the maps `utilization` and `request_cost` are understood in text
 * too.
 */
import { readBin } from "./orca_bin";

/** Figures by name; those of maps as "named_metrics.queue". */
export type LoadReport = Record<string, number>;

/** The single figures of the report. Names beside them are left out. */
const FIELDS: readonly string[] = [
  "cpu_utilization",
  "mem_utilization",
  "application_utilization",
  "rps_fractional",
  "rps",
  "eps",
];

/** The maps of the report. */
const MAPS: readonly string[] = ["named_metrics", "utilization", "request_cost"];

/** A report goes into shared memory for every node: what is beyond is left out. */
export const MAX_FIGURES = 32;
export const MAX_FIGURE_NAME = 64;
const MAX_HEADER_BYTES = 8192;

/** Decodes JSON; undefined when the text is none. */
export type JsonDecoder = (this: void, text: string) => unknown;

function isFigure(value: unknown): value is number {
  return typeof value === "number" && value > -Infinity && value < Infinity;
}

/** Printable ASCII without quotes and backslashes: goes into JSON, metrics and pages as it is. */
function isPlain(name: string): boolean {
  for (let i = 0; i < name.length; i++) {
    const code = name.charCodeAt(i);
    if (code <= 32 || code >= 127 || code === 34 || code === 92) return false;
  }
  return name !== "" && name.length <= MAX_FIGURE_NAME;
}

function isKnown(name: string): boolean {
  if (FIELDS.includes(name)) return true;
  const dot = name.indexOf(".");
  return dot > 0 && dot < name.length - 1 && MAPS.includes(name.substring(0, dot));
}

function put(report: LoadReport, count: number, name: string, value: unknown): number {
  if (count >= MAX_FIGURES || !isFigure(value) || !isPlain(name) || !isKnown(name)) return count;
  if ((report[name] as number | undefined) !== undefined) return count;
  report[name] = value;
  return count + 1;
}

/** A decimal number; JavaScript's and Lua's own readers take more than each other ("0x1p4", " 1 "). */
function parseNumber(text: string): number | undefined {
  if (text === "" || text.length > 32) return undefined;
  for (let i = 0; i < text.length; i++) {
    if (!"0123456789+-.eE".includes(text.charAt(i))) return undefined;
  }
  const value = Number(text);
  return Number.isNaN(value) ? undefined : value;
}

/** The first of two signs in a text; -1 = neither. */
function firstOf(text: string, a: string, b: string): number {
  const at = text.indexOf(a);
  const other = text.indexOf(b);
  if (at < 0 || other < 0) return Math.max(at, other);
  return Math.min(at, other);
}

function parseText(text: string): LoadReport {
  const report: LoadReport = {};
  const entries = text.split(",");
  let count = 0;
  for (let i = 0; i < entries.length; i++) {
    const entry = entries[i].trim();
    const sign = firstOf(entry, "=", ":");
    if (sign > 0) {
      count = put(report, count, entry.substring(0, sign).trim(), parseNumber(entry.substring(sign + 1).trim()));
    }
  }
  return report;
}

/** Names sorted: which ones are left out of too many must not depend on the order of a table. */
function names(table: Record<string, unknown>): string[] {
  const found: string[] = [];
  for (const key in table) if (typeof (key as unknown) === "string") found[found.length] = key;
  found.sort();
  return found;
}

function fromJson(value: unknown): LoadReport {
  const report: LoadReport = {};
  if (typeof value !== "object" || value === null) return report;
  const table = value as Record<string, unknown>;
  const keys = names(table);
  let count = 0;
  for (let i = 0; i < keys.length; i++) {
    const field = table[keys[i]];
    if (!MAPS.includes(keys[i])) {
      count = put(report, count, keys[i], field);
    } else if (typeof field === "object" && field !== null) {
      const entries = field as Record<string, unknown>;
      const inner = names(entries);
      for (let k = 0; k < inner.length; k++) {
        count = put(report, count, `${keys[i]}.${inner[k]}`, entries[inner[k]]);
      }
    }
  }
  return report;
}

function fromBin(text: string): LoadReport {
  const report: LoadReport = {};
  const figures = readBin(text);
  if (figures === undefined) return report;
  let count = 0;
  for (let i = 0; i < figures.names.length; i++) count = put(report, count, figures.names[i], figures.values[i]);
  return report;
}

function isEmpty(report: LoadReport): boolean {
  for (const name in report) if (name !== "") return false;
  return true;
}

/**
 * Reads the header `endpoint-load-metrics`.
 * @param header as received; several lines joined by commas
 * @param decode reads JSON
 * @returns the figures; undefined when there is none in it
 */
export function parseLoadReport(header: string, decode: JsonDecoder): LoadReport | undefined {
  if (header.length > MAX_HEADER_BYTES) return undefined;
  const text = header.trim();
  const format = text.substring(0, 5).toUpperCase();
  let report: LoadReport;
  if (format === "JSON ") report = fromJson(decode(text.substring(5).trim()));
  else if (format === "TEXT ") report = parseText(text.substring(5));
  else if (format.startsWith("BIN ")) report = fromBin(text.substring(4).trim());
  else report = parseText(text);
  return isEmpty(report) ? undefined : report;
}
