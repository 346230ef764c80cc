import type { JsonDecoder } from "../orca";
import { percentText } from "../reasons";
import {
  expectedRanges,
  isExpected,
  type ProbeConfig,
  type ProbeHttpConfig,
  rangesText,
  type StatusRange,
} from "./config";
import type { AnswerReader } from "./response";
import type { CheckResult } from "./results";
import { PROBE_ASKS_FOR, PROBE_HEADER, readSignals } from "./signals";

/** What an HTTP check sends, and what it thinks of the answer. */

/** What every check of an upstream has in common: made once. */
export interface HttpPlan {
  /** The whole request; there is no body. */
  request: string;
  head_only: boolean;
  expected: StatusRange[];
  server_name: string;
}

/** "app.internal" of "app.internal:8443": what a certificate names. */
function withoutPort(host: string): string {
  const colon = host.indexOf(":", host.startsWith("[") ? host.indexOf("]") : 0);
  return colon < 0 ? host : host.substring(0, colon);
}

/** Headers of our own, unless the user has set the same. */
function ownHeaders(host: string): [string, string][] {
  return [
    ["Host", host],
    ["User-Agent", "lua-resty-ax"],
    ["Accept", "*/*"],
    ["Connection", "close"],
    [PROBE_HEADER, PROBE_ASKS_FOR],
    // Asks servers that report by ORCA only when asked (vLLM, for one).
    ["endpoint-load-metrics-format", "TEXT"],
  ];
}

/**
 * @param http the option `probe.http`
 * @param upstream the upstream's name: the Host that nginx sends by default too
 */
export function planHttp(http: ProbeHttpConfig, upstream: string): HttpPlan {
  const host = http.host ?? upstream;
  const lines: string[] = [`${http.method} ${http.path} HTTP/1.1`];
  const given: string[] = [];
  const names: string[] = [];
  for (const name in http.headers) names[names.length] = name;
  // The same request in every worker: records have no order in Lua.
  names.sort();
  for (let i = 0; i < names.length; i++) given[i] = names[i].toLowerCase();
  const own = ownHeaders(host);
  for (let i = 0; i < own.length; i++) {
    if (!given.includes(own[i][0].toLowerCase())) lines[lines.length] = `${own[i][0]}: ${own[i][1]}`;
  }
  for (let i = 0; i < names.length; i++) lines[lines.length] = `${names[i]}: ${http.headers[names[i]]}`;
  return {
    request: `${lines.join("\r\n")}\r\n\r\n`,
    head_only: http.method === "HEAD",
    expected: expectedRanges(http.expected_status),
    server_name: http.tls_server_name ?? withoutPort(host),
  };
}

/** How the body fared: without `body_regex` it does not matter. */
export type BodyMatch = "unasked" | "matched" | "unmatched";

/**
 * @param reader done
 * @param took_ms from the begin of connecting to the end of the answer
 * @param decode reads JSON, of an ORCA report
 */
export function judgeAnswer(
  reader: AnswerReader,
  body: BodyMatch,
  took_ms: number,
  plan: HttpPlan,
  config: ProbeConfig,
  decode: JsonDecoder,
): CheckResult {
  if (reader.problem !== undefined) return { ok: false, why: `${reader.problem} (after ${took_ms} ms)`, took_ms };
  const said = readSignals(reader.headers, decode);
  const result: CheckResult = { ok: true, why: `HTTP ${reader.status} in ${took_ms} ms`, took_ms, ...said };
  if (!isExpected(reader.status, plan.expected)) {
    result.ok = false;
    result.why += ` (${rangesText(plan.expected)} is expected)`;
  } else if (body === "unmatched") {
    result.ok = false;
    result.why += ", but its body does not match body_regex";
  } else if (said.watermark !== undefined && said.watermark > config.max_watermark) {
    result.ok = false;
    result.why += `, but watermark ${percentText(said.watermark)} % (limit ${percentText(config.max_watermark)} %)`;
  }
  return result;
}
