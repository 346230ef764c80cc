/**
 * The admin API, in the shape of NGINX Plus. Knows routes and documents; phases/api.ts knows HTTP.
 */
import type { AxConfig, UpstreamConfig } from "../core/model";
import { type FaultReport } from "../observe/faults";
import { type StatusDeps, type UpstreamStatus, upstreamStatus, workerStatus } from "../observe/status";

export interface ApiDeps extends StatusDeps {
  config: AxConfig;
  pid: number;
  now_ms: number;
  capacity_bytes: number;
  free_bytes: number;
  faults: Record<string, FaultReport>;
}

export interface ApiResponse {
  status: number;
  body: unknown;
  /** Methods for the Allow header of a 405. */
  allow?: string;
}

/** An error document: status, stable code, text for people, where the code is explained. */
export function apiError(status: number, code: string, text: string): ApiResponse {
  return { status, body: { error: { status, code, text, href: `docs/api.md#${string.lower(code)}` } } };
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

function everything(deps: ApiDeps): ApiResponse {
  const upstreams: UpstreamStatus[] = [];
  const names: string[] = [];
  for (const [name] of pairs(deps.config.upstreams)) names.push(name);
  table.sort(names);
  for (const name of names) upstreams.push(upstreamStatus(deps, deps.config.upstreams[name], deps.now_ms));
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

/**
 * @param method HTTP method
 * @param path what follows the API's version prefix: "/upstreams", "/upstreams/backend"
 */
export function route(method: string, path: string, deps: ApiDeps): ApiResponse {
  const [name] = string.match(path, "^/upstreams/([^/]+)/?$");
  const list = path === "/upstreams" || path === "/upstreams/";
  if (!list && name === undefined) {
    return apiError(404, "PathNotFound", `"${path}" is not a path of this API; try /upstreams or /upstreams/{name}`);
  }
  if (method !== "GET" && method !== "HEAD") {
    const answer = apiError(405, "MethodNotAllowed", `${method} is not allowed here; GET and HEAD are`);
    answer.allow = "GET, HEAD";
    return answer;
  }
  if (name === undefined) return everything(deps);
  const config = deps.config.upstreams[name] as UpstreamConfig | undefined;
  if (config === undefined) return apiError(404, "UpstreamNotFound", `upstream "${name}" is not configured`);
  return { status: 200, body: upstreamStatus(deps, config, deps.now_ms) };
}
