/** The option `probe` of an upstream, valid. Options are named and documented in core/config/probe_options.ts. */
export interface ProbeConfig {
  /** 0 = no TCP checks. */
  tcp_interval_s: number;
  timeout_s: number;
  fails: number;
  passes: number;
  max_concurrent: number;
  /** 0..1. */
  max_watermark: number;
  slow_ratio: number;
  slow_checks: number;
  /** Absent = no HTTP checks. */
  http?: ProbeHttpConfig;
}

export interface ProbeHttpConfig {
  interval_s: number;
  path: string;
  method: "GET" | "HEAD";
  /** Absent = the upstream's name. */
  host?: string;
  headers: Record<string, string>;
  /** Codes or ranges as written: 200, "204", "200-299". */
  expected_status?: (string | number)[];
  body_regex?: string;
  max_body_bytes: number;
  /** 0 = the node's own. */
  port: number;
  tls: boolean;
  /** Absent = `host` without its port. */
  tls_server_name?: string;
  tls_verify: boolean;
}

/** What a check looks at: whether a connection can be made, or what is answered. */
export type CheckKind = "tcp" | "http";

/** A range of status codes, both ends included. */
export interface StatusRange {
  from: number;
  to: number;
}

/** 2xx: what "healthy" means where nobody says otherwise. */
export const DEFAULT_EXPECTED: StatusRange = { from: 200, to: 299 };

/** A whole code 100..599 at the start of what is left; undefined = none. */
function parseCode(text: string): number | undefined {
  if (text.length !== 3) return undefined;
  for (let i = 0; i < 3; i++) {
    const code = text.charCodeAt(i);
    if (code < 48 || code > 57) return undefined;
  }
  const value = Number(text);
  return value >= 100 && value <= 599 ? value : undefined;
}

/**
 * @param given an entry of `expected_status`: 200, "204" or "200-299"
 * @returns the range; undefined when it is none
 */
export function parseStatusRange(given: unknown): StatusRange | undefined {
  if (typeof given !== "string" && typeof given !== "number") return undefined;
  const text = `${given}`;
  const dash = text.indexOf("-");
  const from = parseCode(dash < 0 ? text : text.substring(0, dash));
  const to = dash < 0 ? from : parseCode(text.substring(dash + 1));
  if (from === undefined || to === undefined || from > to) return undefined;
  return { from, to };
}

/** @returns the ranges of a valid `expected_status` */
export function expectedRanges(given: readonly (string | number)[] | undefined): StatusRange[] {
  const ranges: StatusRange[] = [];
  for (let i = 0; given !== undefined && i < given.length; i++) {
    const range = parseStatusRange(given[i]);
    if (range !== undefined) ranges[ranges.length] = range;
  }
  if (ranges.length === 0) ranges[0] = DEFAULT_EXPECTED;
  return ranges;
}

/** "200-299, 304" */
export function rangesText(ranges: readonly StatusRange[]): string {
  let text = "";
  for (let i = 0; i < ranges.length; i++) {
    const { from, to } = ranges[i];
    text += (i > 0 ? ", " : "") + (from === to ? `${from}` : `${from}-${to}`);
  }
  return text;
}

export function isExpected(status: number, ranges: readonly StatusRange[]): boolean {
  for (let i = 0; i < ranges.length; i++) {
    if (status >= ranges[i].from && status <= ranges[i].to) return true;
  }
  return false;
}
