import { formatAddress } from "../core/config/address";
import { checkGatewayFlow } from "../core/config/flow_options";
import { checkTiers, nodeFields, toNode } from "../core/config/nodes";
import { configFields } from "../core/config/options";
import { keyPath, newProblems, type Problems, renderProblems, report } from "../core/config/problems";
import type { NumberField } from "../core/config/schema";
import { isAbsent, isTable, quote, showNumber, showValue, sortedKeys } from "../core/config/show";
import { suggest } from "../core/config/suggest";
import { checkName } from "../core/config/texts";
import type { StrategyOptions } from "../core/config/upstream_options";
import { validate } from "../core/config/validate";
import type { AxConfig, NodeConfig, UpstreamConfig } from "../core/model";
import type { ProbeConfig } from "../core/probe/config";
import type { AdoptedServer, Adoption } from "../nginx/conf/adoption";

/** What loading needs from outside; nginx/ has the real ones, tests pass their own. */
export interface ConfigDeps {
  /** @returns the file's text, or undefined and the reason */
  readFile(this: void, path: string): LuaMultiReturn<[string | undefined, string | undefined]>;
  /** @returns the value, or undefined and what is wrong at which character */
  decodeJson(this: void, text: string): LuaMultiReturn<[unknown, string | undefined]>;
  /** @returns the servers of the upstream block of that name, or undefined and the reason */
  adopt(this: void, upstream: string, conf_path?: string): LuaMultiReturn<[Adoption | undefined, string | undefined]>;
  /** Options of every built-in strategy, by its name. */
  strategies: StrategyOptions;
  /** @returns what is wrong with a regular expression of nginx's; undefined when nothing is, or nobody can tell */
  checkRegex?(this: void, regex: string): string | undefined;
  /** Takes what is odd but no mistake, one line each. */
  warn?(this: void, text: string): void;
  /** Takes the problems one by one when they are too long for one error text. */
  logError?(this: void, text: string): void;
}

/** nginx cuts an entry of its error log at 2048 bytes; time, process and "init_by_lua error:" take some. */
const MAX_ERROR_TEXT = 1800;

/** Upper end of a node's weight: that of the schema. */
const MAX_WEIGHT = (nodeFields["weight"] as NumberField).max;

type Fields = Record<string, unknown>;

/** One validation under way. */
interface Loading {
  deps: ConfigDeps;
  problems: Problems;
  nginx_conf?: string;
}

function warn(loading: Loading, path: string, text: string): void {
  if (loading.deps.warn !== undefined) loading.deps.warn(`${path}: ${text}`);
}

/**
 * nginx starts with values we do not take (fail_timeout=0, weight=100000): bring them into range
 * rather than refuse a configuration that works.
 */
function clamped(loading: Loading, path: string, key: string, value: number | undefined): number | undefined {
  const field = nodeFields[key];
  if (value === undefined || field.kind !== "number") return value;
  const used = math.max(field.min, math.min(field.max, value));
  if (used !== value) {
    const range = `${showNumber(field.min)}..${showNumber(field.max)}`;
    warn(loading, keyPath(path, key), `${showNumber(value)} is outside ${range}; ${showNumber(used)} is used`);
  }
  return used;
}

/** nginx's own: a line that says max_fails and no more means so long. */
const NGINX_FAIL_TIMEOUT_S = 10;

function unsaidTimeout(server: AdoptedServer): number | undefined {
  return server.max_fails === undefined ? undefined : NGINX_FAIL_TIMEOUT_S;
}

/** @returns the server as a user would write it under `nodes`, validated */
function adoptServer(loading: Loading, server: AdoptedServer, upstream_path: string): Fields {
  const path = `${upstream_path}.server[${quote(server.name)}]`;
  const fields: Fields = {
    address: formatAddress(server),
    weight: clamped(loading, path, "weight", server.weight),
    max_fails: clamped(loading, path, "max_fails", server.max_fails),
    fail_timeout_s: clamped(loading, path, "fail_timeout_s", server.fail_timeout_s ?? unsaidTimeout(server)),
    max_conns: clamped(loading, path, "max_conns", server.max_conns),
    backup: server.backup,
    down: server.down,
  };
  return validate(fields, nodeFields, path, loading.problems);
}

/**
 * nginx takes an address twice in a block and gives it both shares; a node has one state, so the
 * lines become one node. A line that is down, or backup where the other is not, adds nothing.
 */
function mergeNode(first: NodeConfig, other: NodeConfig): void {
  const better = (first.down && !other.down) || (first.down === other.down && first.backup && !other.backup);
  if (better) {
    first.weight = other.weight;
    first.max_conns = other.max_conns;
    first.down = other.down;
    first.backup = other.backup;
  } else if (first.down === other.down && first.backup === other.backup) {
    first.weight = math.min(first.weight + other.weight, MAX_WEIGHT);
    const unlimited = first.max_conns === 0 || other.max_conns === 0;
    first.max_conns = unlimited ? 0 : first.max_conns + other.max_conns;
  }
}

function adoptNodes(loading: Loading, adoption: Adoption, path: string): NodeConfig[] {
  const nodes: NodeConfig[] = [];
  const by_id: Record<string, NodeConfig | undefined> = {};
  for (const server of adoption.servers) {
    const total = loading.problems.total;
    const fields = adoptServer(loading, server, path);
    if (loading.problems.total > total) continue;
    const node = toNode(fields);
    const first = by_id[node.id];
    if (first === undefined) {
      by_id[node.id] = node;
      nodes.push(node);
    } else {
      warn(loading, path, `server ${node.id} occurs more than once; one node is made of it, with the weights added`);
      mergeNode(first, node);
    }
  }
  return nodes;
}

/** Takes the nodes of an upstream without `nodes` from its block's server lines. */
function adoptUpstream(loading: Loading, upstream: Fields, name: string, path: string): void {
  const [adoption, err] = loading.deps.adopt(name, loading.nginx_conf);
  if (adoption === undefined) {
    report(loading.problems, path, `no nodes given, and none adopted from nginx: ${err ?? "unknown reason"}`);
    return;
  }
  for (const text of adoption.warnings) warn(loading, path, text);
  if (adoption.servers.length === 0) {
    report(loading.problems, path, `no nodes given, and the upstream block in ${adoption.from} has no server lines`);
    return;
  }
  const nodes = adoptNodes(loading, adoption, path);
  if (nodes.length > 0) checkTiers(nodes, path, "server", loading.problems);
  upstream["nodes"] = nodes;
  upstream["nodes_from"] = adoption.from;
}

/** Adopts where nodes are absent. */
function adoptAll(loading: Loading, upstreams: Record<string, Fields>, raw: Record<string, Fields>): void {
  for (const name of sortedKeys(upstreams)) {
    if (isAbsent(raw[name]["nodes"]) && checkName(name) === undefined) {
      adoptUpstream(loading, upstreams[name], name, keyPath("upstreams", name));
    }
  }
}

/** Turns valid records into the model, in place: they are fresh. */
function toConfig(record: Fields): AxConfig {
  const upstreams = record["upstreams"] as Record<string, UpstreamConfig>;
  for (const name of sortedKeys(upstreams)) {
    const upstream = upstreams[name];
    upstream.name = name;
    if (upstream.nodes_from !== undefined) continue;
    const nodes: NodeConfig[] = [];
    for (const fields of upstream.nodes) nodes.push(toNode(fields as unknown as Fields));
    upstream.nodes = nodes;
    upstream.nodes_from = "nodes";
  }
  return record as unknown as AxConfig;
}

/** Regular expressions can only be checked by who runs them. */
function checkRegexes(loading: Loading, upstreams: Record<string, Fields>): void {
  if (loading.deps.checkRegex === undefined) return;
  for (const name of sortedKeys(upstreams)) {
    const http = (upstreams[name]["probe"] as Partial<ProbeConfig> | undefined)?.http;
    const wrong = http?.body_regex === undefined ? undefined : loading.deps.checkRegex(http.body_regex);
    if (wrong !== undefined) {
      const path = `${keyPath("upstreams", name)}.probe.http.body_regex`;
      report(loading.problems, path, `${quote(http?.body_regex ?? "")} does not compile: ${wrong}; a PCRE is needed`);
    }
  }
}

/** A zone that no node is in prefers nothing: most likely a slip of the pen, but a node may be there tomorrow. */
function warnAboutZone(loading: Loading, upstream: UpstreamConfig): void {
  if (upstream.zone === undefined) return;
  const zones: string[] = [];
  for (const node of upstream.nodes) {
    if (node.zone === upstream.zone) return;
    if (node.zone !== "") zones.push(node.zone);
  }
  const near = suggest(upstream.zone, zones);
  const hint = near === undefined ? "" : `; did you mean ${quote(near)}?`;
  warn(loading, `upstreams.${upstream.name}.zone`, `no node is in ${quote(upstream.zone)}: all are alike${hint}`);
}

/** " (line 3, column 7)" for the character that the decoder names; "" when it names none. */
function lineText(text: string, err: string): string {
  const [found] = string.match(err, "character (%d+)");
  const at = tonumber(found);
  if (at === undefined) return "";
  let line = 1;
  let column = 1;
  for (const i of $range(1, at - 1)) {
    const newline = string.byte(text, i) === 10;
    line = newline ? line + 1 : line;
    column = newline ? 1 : column + 1;
  }
  return ` (line ${line}, column ${column})`;
}

function readSource(path: string, deps: ConfigDeps): LuaMultiReturn<[unknown, string | undefined]> {
  const [text, unreadable] = deps.readFile(path);
  if (text === undefined) {
    const reason = unreadable ?? "unknown reason";
    const [named] = string.find(reason, path, 1, true);
    const where = named === undefined ? `${quote(path)}: ` : "";
    return $multi(undefined, `lua-resty-ax: cannot read the configuration file: ${where}${reason}`);
  }
  const [value, invalid] = deps.decodeJson(text);
  if (invalid !== undefined) {
    return $multi(undefined, `lua-resty-ax: ${path} is not valid JSON: ${invalid}${lineText(text, invalid)}`);
  }
  return $multi(value, undefined);
}

/** All problems as one text; when nginx would cut it, each also goes to the log by itself. */
function errorText(problems: Problems, source: string, deps: ConfigDeps): string {
  const text = renderProblems(problems, source);
  if (text.length <= MAX_ERROR_TEXT || deps.logError === undefined) return text;
  for (const problem of problems.list) deps.logError(`${problem.path}: ${problem.text}`);
  return `${renderProblems(problems, source, MAX_ERROR_TEXT)} (see the log entries above this one)`;
}

/**
 * Loads the whole configuration: validates it, fills in defaults, adopts nodes from nginx where none
 * are given.
 * @param source a table of options (docs/configuration.md), or the path of a JSON file with them
 * @param deps what it needs from outside
 * @returns the configuration; or undefined and one text with all problems, ready for error(text, 0)
 */
export function loadConfig(
  source: unknown,
  deps: ConfigDeps,
): LuaMultiReturn<[AxConfig | undefined, string | undefined]> {
  let raw = source;
  if (typeof source === "string") {
    const [value, err] = readSource(source, deps);
    if (err !== undefined) return $multi(undefined, err);
    raw = value;
  } else if (!isTable(source)) {
    const given = showValue(source);
    return $multi(
      undefined,
      `lua-resty-ax: init takes a table of options or the path of a JSON file; ${given} is given`,
    );
  }
  const problems = newProblems();
  const record = validate(raw, configFields(deps.strategies), "", problems, checkGatewayFlow);
  const loading: Loading = { deps, problems, nginx_conf: record["nginx_conf"] as string | undefined };
  const upstreams = record["upstreams"] as Record<string, Fields> | undefined;
  if (upstreams !== undefined)
    adoptAll(loading, upstreams, (raw as Record<string, Record<string, Fields>>)["upstreams"]);
  if (upstreams !== undefined) checkRegexes(loading, upstreams);
  if (problems.total === 0) {
    const config = toConfig(record);
    for (const name of sortedKeys(config.upstreams)) warnAboutZone(loading, config.upstreams[name]);
    return $multi(config, undefined);
  }
  return $multi(undefined, errorText(problems, typeof source === "string" ? source : "init", deps));
}
