/**
 * The admin API, in the shape of NGINX Plus. Knows routes and documents; phases/api.ts knows HTTP.
 */
import { suggest } from "../core/config/suggest";
import { quote } from "../core/config/show";
import type { AxConfig, NodeConfig, UpstreamConfig } from "../core/model";
import { willText } from "../core/operator";
import { jsonList } from "../observe/document";
import type { FaultReport } from "../observe/faults";
import { nodeStatus } from "../observe/node_status";
import { type UpstreamStatus, upstreamStatus } from "../observe/status";
import type { StatusDeps } from "../observe/status_deps";
import { workerStatus } from "../observe/worker_status";
import { readWill } from "../observe/wills";
import { readBacklogChange, writeBacklog } from "./backlog";
import { apiError, type ApiResponse } from "./errors";
import { type EventsDeps, showEvents } from "./events";
import { applyChange, type Change, readChange } from "./patch";
import { type WillDeps, writeWill } from "./wills";

export interface ApiDeps extends StatusDeps, WillDeps, EventsDeps {
  config: AxConfig;
  pid: number;
  /** Monotonic ms: reading a body takes as long as the client takes to send it. */
  clock(this: void): number;
  capacity_bytes: number;
  free_bytes: number;
  faults: Record<string, FaultReport>;
  /** The location only shows. */
  read_only: boolean;
  /** Path under which the API is mounted: "/ax". For hints. */
  mount: string;
  /** Who the client has proved to be, for changes that do not say. */
  user?: string;
  /** Reads and decodes the request's body; or the error to answer with. */
  body(this: void): LuaMultiReturn<[unknown, ApiResponse | undefined]>;
}

function collectorOf(upstreams: UpstreamStatus[]): Record<string, unknown> {
  for (const upstream of upstreams) {
    if (upstream.collector_pid !== undefined) {
      return {
        pid: upstream.collector_pid,
        generation: upstream.generation,
        data_age_ms: upstream.data_age_ms,
      };
    }
  }
  return { note: "no collector has reported yet" };
}

function faultsOf(deps: ApiDeps): Record<string, unknown> {
  const shown: Record<string, unknown> = {};
  for (const [code, fault] of pairs(deps.faults)) {
    shown[code] = {
      count: fault.count,
      last_message: fault.last_message,
      last_age_s: Math.floor(deps.now_ms - fault.last_at_ms) / 1000,
    };
  }
  return shown;
}

function upstreamNames(config: AxConfig): string[] {
  const names: string[] = [];
  for (const [name] of pairs(config.upstreams)) names.push(name);
  table.sort(names);
  return names;
}

function everything(deps: ApiDeps): ApiResponse {
  const upstreams: UpstreamStatus[] = [];
  for (const name of upstreamNames(deps.config)) {
    upstreams.push(upstreamStatus(deps, deps.config.upstreams[name], deps.now_ms));
  }
  return {
    status: 200,
    body: {
      answered_by_pid: deps.pid,
      collector: collectorOf(upstreams),
      workers: workerStatus(deps, deps.now_ms),
      shared_dict: {
        name: deps.config.shared_dict,
        capacity_bytes: deps.capacity_bytes,
        free_page_bytes: deps.free_bytes,
      },
      faults: faultsOf(deps),
      upstreams,
    },
  };
}

/** One path of the API: what it answers, and what it changes. */
interface Endpoint {
  get(this: void, deps: ApiDeps): ApiResponse;
  patch?(this: void, deps: ApiDeps): ApiResponse;
}

/** nginx makes "//" in a path "/": an id with both is still found. */
function merged(id: string): string {
  const [text] = string.gsub(id, "/+", "/");
  return text;
}

function findNode(upstream: UpstreamConfig, id: string): NodeConfig | undefined {
  for (const node of upstream.nodes) if (node.id === id) return node;
  for (const node of upstream.nodes) if (merged(node.id) === id) return node;
  return undefined;
}

function nodeNotFound(upstream: UpstreamConfig, id: string): ApiResponse {
  const ids: string[] = [];
  for (const node of upstream.nodes) ids.push(node.id);
  const nearest = suggest(id, ids);
  const hint = nearest === undefined ? "" : `; did you mean ${quote(nearest)}?`;
  const text = `upstream "${upstream.name}" has no node ${quote(id)}${hint}`;
  return apiError(
    "NodeNotFound",
    `${text}; ids are names, or addresses as configured, like ${quote(ids[0])} (in a path, "/" may be written %2F)`,
  );
}

/** Reads, decides and writes without a pause in between: nothing else runs in this worker meanwhile. */
function change(deps: ApiDeps, upstream: UpstreamConfig, node: NodeConfig): ApiResponse {
  const [body, unreadable] = deps.body();
  if (unreadable !== undefined) return unreadable;
  const [wanted, wrong] = readChange(body);
  if (wanted === undefined) return wrong as ApiResponse;
  wanted.by ??= deps.user;
  return carryOut(deps, upstream, node, wanted);
}

function carryOut(deps: ApiDeps, upstream: UpstreamConfig, node: NodeConfig, wanted: Change): ApiResponse {
  const now_ms = deps.clock();
  const before = readWill(deps.store, deps.decode, upstream.name, node.id, now_ms);
  const after = applyChange(before, wanted, now_ms);
  if (before !== after && !writeWill(deps, upstream.name, node.id, after)) {
    return apiError("StoreFull", "no room in the shared dict: nothing was changed; enlarge lua_shared_dict");
  }
  const answer: ApiResponse = { status: 200, body: nodeStatus(deps, upstream, node, now_ms) };
  if (before?.kind !== after?.kind) {
    const text = after === undefined ? "no longer what the operator said" : willText(after);
    answer.notice = `upstream "${upstream.name}", node "${node.id}": ${text}`;
  }
  return answer;
}

function nodeEndpoint(upstream: UpstreamConfig, node: NodeConfig): Endpoint {
  return {
    get: (deps) => ({ status: 200, body: nodeStatus(deps, upstream, node, deps.now_ms) }),
    patch: (deps) => change(deps, upstream, node),
  };
}

function events(deps: ApiDeps, upstream: UpstreamConfig): ApiResponse {
  const shown = showEvents(deps, upstream, (id) => findNode(upstream, id) !== undefined);
  return "unknown_node" in shown ? nodeNotFound(upstream, shown.unknown_node) : shown;
}

/** What is to become of the backlog; the collector does it. */
function changeUpstream(deps: ApiDeps, upstream: UpstreamConfig): ApiResponse {
  const [body, unreadable] = deps.body();
  if (unreadable !== undefined) return unreadable;
  const [wanted, wrong] = readBacklogChange(upstream, body);
  if (wanted === undefined) return wrong as ApiResponse;
  if (!writeBacklog(deps, upstream.name, wanted)) {
    return apiError("StoreFull", "no room in the shared dict: nothing was changed; enlarge lua_shared_dict");
  }
  const by = deps.user === undefined ? "" : ` (${deps.user})`;
  const text = wanted.on ? "its backlog is to be drained" : "its backlog is to be drained no longer";
  return {
    status: 200,
    body: upstreamStatus(deps, upstream, deps.clock()),
    notice: `upstream "${upstream.name}": ${text}, says the operator${by}`,
  };
}

function underUpstream(upstream: UpstreamConfig, rest: string): Endpoint | ApiResponse | undefined {
  if (rest === "" || rest === "/") {
    return {
      get: (deps) => ({ status: 200, body: upstreamStatus(deps, upstream, deps.now_ms) }),
      patch: (deps) => changeUpstream(deps, upstream),
    };
  }
  if (rest === "/nodes" || rest === "/nodes/") {
    return { get: (deps) => ({ status: 200, body: jsonList(upstreamStatus(deps, upstream, deps.now_ms).nodes) }) };
  }
  if (rest === "/events" || rest === "/events/") return { get: (deps) => events(deps, upstream) };
  const [id] = string.match(rest, "^/nodes/(.+)$");
  if (id === undefined) return undefined;
  const node = findNode(upstream, id) ?? findNode(upstream, string.gsub(id, "/$", "")[0]);
  return node === undefined ? nodeNotFound(upstream, id) : nodeEndpoint(upstream, node);
}

function isResponse(found: Endpoint | ApiResponse): found is ApiResponse {
  return "status" in found;
}

function find(deps: ApiDeps, path: string): Endpoint | ApiResponse | undefined {
  if (path === "/upstreams" || path === "/upstreams/") return { get: everything };
  const [name, rest] = string.match(path, "^/upstreams/([^/]+)(.*)$");
  if (name === undefined) return undefined;
  const upstream = deps.config.upstreams[name] as UpstreamConfig | undefined;
  if (upstream !== undefined) return underUpstream(upstream, rest ?? "");
  const nearest = suggest(name, upstreamNames(deps.config));
  const hint = nearest === undefined ? "" : `; did you mean ${quote(nearest)}?`;
  return apiError("UpstreamNotFound", `upstream ${quote(name)} is not configured${hint}`);
}

/**
 * @param method HTTP method
 * @param path what follows the API's version prefix: "/upstreams", "/upstreams/backend/nodes/10.0.0.1:80"; decoded
 */
export function route(method: string, path: string, deps: ApiDeps): ApiResponse {
  const found = find(deps, path);
  if (found === undefined) {
    const base = `${deps.mount}/v1/upstreams`;
    const paths = `${base}, ${base}/{name}, ${base}/{name}/events, ${base}/{name}/nodes or ${base}/{name}/nodes/{id}`;
    return apiError("PathNotFound", `${quote(path)} is not a path of this API; try ${paths}`);
  }
  if (isResponse(found)) return found;
  if (method === "GET" || method === "HEAD") return found.get(deps);
  const allow = found.patch === undefined || deps.read_only ? "GET, HEAD" : "GET, HEAD, PATCH";
  if (method === "PATCH" && found.patch !== undefined) {
    if (!deps.read_only) return found.patch(deps);
    return { ...apiError("MethodDisabled", "this location is read_only: it shows, and changes nothing"), allow };
  }
  return { ...apiError("MethodNotAllowed", `${method} is not allowed here; ${allow} are`), allow };
}
