import { parseStatusRange } from "../probe/config";
import { keyPath, positionPath, type Problems, report } from "./problems";
import {
  checkHeaderName,
  checkHeaderValue,
  checkHost,
  checkPath,
  checkRegexText,
  checkServerName,
} from "./probe_texts";
import type { FieldSchema } from "./schema";
import { isAbsent, showNumber, showValue, sortedKeys } from "./show";

/** Active checks: the option `probe` of an upstream. */

type Fields = Record<string, unknown>;

const STATUS_FORMS = '100..599 or a range like "200-299"';

/** What a node of usual size answers within, and shorter than the TCP interval. */
const DEFAULT_TIMEOUT_S = 2;

const requestFields: Record<string, FieldSchema> = {
  path: {
    kind: "string",
    check: checkPath,
    default: "/healthz",
    doc: "What is asked for; with arguments if need be.",
    reason: "the usual name of a health page",
  },
  method: {
    kind: "enum",
    values: ["GET", "HEAD"],
    default: "GET",
    doc: "`HEAD` asks for no body.",
    reason: "every health page answers it",
  },
  host: {
    kind: "string",
    check: checkHost,
    doc: "The Host header. Without it the upstream's name, as nginx itself sends to `proxy_pass http://name`.",
  },
  headers: {
    kind: "map",
    of: { kind: "string", check: checkHeaderValue, doc: "A header's value." },
    default_empty: true,
    key_doc: "name",
    key_check: checkHeaderName,
    expected: 'a map of names to values, { ["X-Token"] = "..." },',
    doc: "More headers. `User-Agent`, `Accept` and `X-AX-Probe` replace the check's own.",
    reason: "health pages rarely ask for any",
  },
};

const answerFields: Record<string, FieldSchema> = {
  expected_status: {
    kind: "list",
    of: { kind: "any", doc: "A status code, or a range of them." },
    non_empty: true,
    expected: 'a list of codes and ranges, { 200, "204", "300-399" },',
    doc: 'Codes of a healthy node: numbers, or ranges like "200-299". Without it 200-299.',
  },
  body_regex: {
    kind: "string",
    check: checkRegexText,
    doc: "The body must match this regular expression (PCRE, anywhere in it). It is compiled at the start.",
  },
  max_body_bytes: {
    kind: "number",
    integer: true,
    min: 0,
    max: 1048576,
    default: 16384,
    doc: "No more of the body is read, or matched. 0 = none: the check ends with the headers.",
    reason: "health pages are short; a page that never ends must not fill the memory",
  },
};

const connectionFields: Record<string, FieldSchema> = {
  port: {
    kind: "number",
    integer: true,
    min: 0,
    max: 65535,
    default: 0,
    doc: "Another port than the node's, for HTTP checks; 0 = the node's. Unix sockets have none.",
    reason: "what is checked is best what serves",
  },
  tls: {
    kind: "boolean",
    default: false,
    doc: "HTTPS.",
    reason: "most upstreams speak plain HTTP behind the gateway",
  },
  tls_server_name: {
    kind: "string",
    check: checkServerName,
    doc: "The name sent in the TLS handshake (SNI), and looked for in the certificate. Without it `host` without its port.",
  },
  tls_verify: {
    kind: "boolean",
    default: false,
    doc: "The certificate must be valid, by the authorities in `lua_ssl_trusted_certificate` (http level).",
    reason: "as nginx's `proxy_ssl_verify`: certificates of nodes are often self-signed",
  },
};

const httpFields: Record<string, FieldSchema> = {
  interval_s: {
    kind: "number",
    min: 0.2,
    max: 3600,
    default: 10,
    doc: "Time between two HTTP checks of a node. Not less than `timeout_s`.",
    reason: "a health page may ask a database: six times a minute costs nobody anything",
  },
  ...requestFields,
  ...answerFields,
  ...connectionFields,
};

const limitFields: Record<string, FieldSchema> = {
  timeout_s: {
    kind: "number",
    min: 0.05,
    max: 60,
    default: DEFAULT_TIMEOUT_S,
    doc: "Longest a check may take, from connecting to the end of the answer. At most each of the intervals.",
    reason: "far longer than a healthy node takes, shorter than the interval of 3 s",
  },
  fails: {
    kind: "number",
    integer: true,
    min: 1,
    max: 100,
    default: 3,
    doc: "Failed checks of one kind in a row that make a node fail.",
    reason: "one lost packet or one long pause takes no node out; 3 s apart, a dead node is out within about 10 s",
  },
  passes: {
    kind: "number",
    integer: true,
    min: 1,
    max: 100,
    default: 2,
    doc: "Passed checks in a row that make it pass again. Before any failure the first pass is enough.",
    reason: "a service that restarts for ever answers once in between",
  },
  max_concurrent: {
    kind: "number",
    integer: true,
    min: 1,
    max: 256,
    default: 32,
    doc:
      "Most checks of this upstream under way at once; the others wait for their turn. Nodes that did not answer " +
      "last time get at most half of the places. Over all upstreams it is 256.",
    reason: "hundreds of checks a second where nodes answer in time, and few connections where they do not",
  },
  max_watermark: {
    kind: "number",
    min: 0.01,
    max: 10,
    default: 0.85,
    doc: "A node that says its thread pool is fuller than this (0..1) fails the check ([probes.md](probes.md)).",
    reason: "past 85 % busy, requests begin to wait inside the node",
  },
  slow_ratio: {
    kind: "number",
    min: 1.1,
    max: 1000,
    default: 3,
    doc: "An HTTP check that takes longer than this many times what the node's checks normally take is slow.",
    reason: "three times normal is more than noise: threads are stuck, or it swaps",
  },
  slow_checks: {
    kind: "number",
    integer: true,
    min: 1,
    max: 100,
    default: 3,
    doc: "So many slow checks in a row mean a slow node: it keeps its place, and gets less.",
    reason: "one long garbage collection is no state",
  },
};

/** The option as one of an upstream. */
export const probeFields: Record<string, FieldSchema> = {
  probe: {
    kind: "object",
    optional: true,
    fields: {
      tcp_interval_s: {
        kind: "number",
        min: 0,
        max: 3600,
        default: 3,
        doc: "Time between two TCP checks (can it be connected to?) of a node; 0 = none. Not less than `timeout_s`.",
        reason: "a dead machine is found within ten seconds, at the cost of an empty connection",
      },
      http: {
        kind: "object",
        optional: true,
        fields: httpFields,
        check: checkHttp,
        expected: "a map of options, {} for the defaults,",
        doc: "Checks by HTTP; without it there are none. `http = {}` asks for `/healthz`.",
      },
      ...limitFields,
    },
    check: checkProbe,
    expected: "a map of options, {} for TCP checks,",
    doc:
      "Active checks of every node, beside what requests tell. Without it there are none: the gateway opens no " +
      "connections that nobody asked for. See [probes.md](probes.md).",
  },
  orca: {
    kind: "boolean",
    default: false,
    doc:
      "Whether what nodes report of their load in their answers to requests (header `endpoint-load-metrics`) is read: " +
      "busy ones get less ([health.md](health.md#reports-of-nodes)).",
    reason: "a header that nobody expects to matter must not move traffic",
  },
};

/** Status codes one by one; names of hosts need TLS. Parameters as of ObjectCheck. */
function checkHttp(record: Fields, raw: Fields, path: string, problems: Problems): void {
  const given = record["expected_status"] as unknown[] | undefined;
  for (let i = 0; given !== undefined && i < given.length; i++) {
    // An absent entry has been reported already, and stands as false.
    if (given[i] === false || parseStatusRange(given[i]) !== undefined) continue;
    const entry_path = positionPath(keyPath(path, "expected_status"), i + 1);
    report(problems, entry_path, `${showValue(given[i])} is no status code; ${STATUS_FORMS} is needed`);
  }
  const keys = ["tls_server_name", "tls_verify"];
  for (let i = 0; i < keys.length; i++) {
    const wants_tls = !isAbsent(raw[keys[i]]) && raw[keys[i]] !== false;
    if (wants_tls && record["tls"] === false) report(problems, keyPath(path, keys[i]), "needs tls = true");
  }
  if (record["method"] === "HEAD" && record["body_regex"] !== undefined) {
    report(problems, keyPath(path, "body_regex"), 'has nothing to match: method is "HEAD"; "GET" is needed');
  }
  if (record["max_body_bytes"] === 0 && record["body_regex"] !== undefined) {
    report(problems, keyPath(path, "body_regex"), "has nothing to match: max_body_bytes is 0; more is needed");
  }
  checkSameHeaders(record, path, problems);
}

/** "X-a" and "x-A" are one header: which one would be sent? */
function checkSameHeaders(record: Fields, path: string, problems: Problems): void {
  const headers = record["headers"] as Fields | undefined;
  if (headers === undefined) return;
  const seen: Record<string, string> = {};
  const names = sortedKeys(headers);
  for (let i = 0; i < names.length; i++) {
    const name = names[i].toLowerCase();
    const before = seen[name] as string | undefined;
    if (before !== undefined) {
      report(problems, keyPath(keyPath(path, "headers"), names[i]), `is the same header as "${before}"; give it once`);
    }
    seen[name] = names[i];
  }
}

function shown(key: string, value: number, raw: Fields): string {
  return `${showNumber(value)} s${isAbsent(raw[key]) ? " (the default)" : ""}`;
}

/** A check must be over before the next one is due, and something must be checked. Parameters as of ObjectCheck. */
function checkProbe(record: Fields, raw: Fields, path: string, problems: Problems): void {
  const timeout_s = record["timeout_s"] as number | undefined;
  const tcp_s = record["tcp_interval_s"] as number | undefined;
  const http = record["http"] as Fields | undefined;
  const http_s = http?.["interval_s"] as number | undefined;
  if (tcp_s === 0 && isAbsent(raw["http"])) {
    report(problems, path, "checks nothing: tcp_interval_s is 0 and there is no http; one of them is needed");
  }
  if (timeout_s === undefined) return;
  if (tcp_s !== undefined && tcp_s > 0 && tcp_s < timeout_s) {
    const text = `${shown("tcp_interval_s", tcp_s, raw)} is less than timeout_s, which is `;
    report(
      problems,
      keyPath(path, "tcp_interval_s"),
      `${text}${shown("timeout_s", timeout_s, raw)}: a check would not be over when the next one is due; ` +
        `0 (no TCP checks) or at least ${showNumber(timeout_s)} s is needed`,
    );
  }
  if (http_s !== undefined && http_s < timeout_s) {
    const http_raw = (raw["http"] as Fields | undefined) ?? {};
    const text = `${shown("interval_s", http_s, http_raw)} is less than timeout_s, which is `;
    report(
      problems,
      keyPath(keyPath(path, "http"), "interval_s"),
      `${text}${shown("timeout_s", timeout_s, raw)}: a check would not be over when the next one is due; ` +
        `at least ${showNumber(timeout_s)} s is needed`,
    );
  }
}
