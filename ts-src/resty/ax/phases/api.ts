import { route } from "../control/api";
import { apiError, type ApiResponse } from "../control/errors";
import { isTable, quote, showValue } from "../core/config/show";
import { suggest } from "../core/config/suggest";
import { process, type Worker } from "../dataplane/worker";
import { contentType, readBody } from "../nginx/body";
import { nowMs } from "../nginx/clock";
import { decode, encode } from "../nginx/json";
import { logNotice } from "../nginx/log";
import { processAlive } from "../nginx/process";
import { hasArgument, queryArguments, remoteUser, requestMethod, requestPath, respondJson } from "../nginx/response";
import { FAULT_CODES } from "../observe/codes";
import { documentText } from "../observe/document";
import { readFaults } from "../observe/faults";
import { fault } from "./faults";

/** Options of api(). */
export interface ApiOptions {
  /** The location only shows: every change is answered with 405. False by default. */
  read_only?: boolean;
}

/** Many times the longest change that is valid. */
const BODY_MAX_BYTES = 16384;

function decodeOrNothing(text: string): unknown {
  const [value] = decode(text);
  return value;
}

/** The body of a change. */
function jsonBody(this: void): LuaMultiReturn<[unknown, ApiResponse | undefined]> {
  if (contentType() !== "application/json") {
    return $multi(undefined, apiError("UnsupportedMediaType", "the header Content-Type: application/json is needed"));
  }
  const body = readBody(BODY_MAX_BYTES);
  if (body.too_large) {
    return $multi(undefined, apiError("BodyTooLarge", `the body is longer than the ${BODY_MAX_BYTES} bytes allowed`));
  }
  if (body.text === undefined)
    return $multi(undefined, apiError("BodyUnreadable", body.err ?? "the body is unreadable"));
  const [value, err] = decode(body.text);
  if (value === undefined)
    return $multi(undefined, apiError("BodyNotJson", `the body is not JSON: ${err ?? "nothing"}`));
  return $multi(value, undefined);
}

/** The API may be mounted anywhere: what counts is what follows its version. */
function splitPath(uri: string): LuaMultiReturn<[string, string]> {
  const [mount, path] = string.match(uri, "^(.-)/v1(/upstreams.*)$");
  if (mount !== undefined && path !== undefined) return $multi(mount, path);
  const [guess] = string.match(uri, "^(/[^/]+)/");
  return $multi(guess ?? "", uri);
}

function answer(worker: Worker, read_only: boolean): ApiResponse {
  const [mount, path] = splitPath(requestPath());
  const store = worker.store;
  return route(requestMethod(), path, {
    config: worker.config,
    store,
    encode,
    decode: decodeOrNothing,
    processAlive,
    pid: worker.exchange.pid,
    now_ms: nowMs(),
    clock: nowMs,
    capacity_bytes: store.capacityBytes(),
    free_bytes: store.freeBytes(),
    faults: readFaults(worker.faults, store, FAULT_CODES, decodeOrNothing),
    read_only,
    mount,
    user: remoteUser(),
    body: jsonBody,
    args: queryArguments,
  });
}

/** @returns whether the location only shows; throws on anything else than the options there are */
function readOptions(options: unknown): boolean {
  if (options === undefined) return false;
  if (!isTable(options))
    error(`api(${showValue(options)}): a table of options is needed, like { read_only = true }`, 0);
  for (const [name] of pairs(options)) {
    if (name !== "read_only") {
      const nearest = suggest(name, ["read_only"]);
      error(`api(): no option ${quote(name)}${nearest === undefined ? "" : `; did you mean "${nearest}"?`}`, 0);
    }
  }
  const value = options["read_only"];
  if (value !== undefined && typeof value !== "boolean") {
    error(`api(): read_only is ${showValue(value)}; true or false is needed`, 0);
  }
  return value === true;
}

function respond(response: ApiResponse): void {
  const headers: Record<string, string> = response.allow === undefined ? {} : { Allow: response.allow };
  respondJson(response.status, documentText(response.body, hasArgument("pretty")), headers);
  if (response.notice !== undefined) logNotice(response.notice);
}

function serve(options: unknown): void {
  const worker = process.worker;
  const read_only = readOptions(options);
  respond(
    worker === undefined
      ? apiError("NotInitialised", "init() and init_worker() have not run in this worker: see the README's nginx.conf")
      : answer(worker, read_only),
  );
}

/**
 * Serves the admin API: GET …/v1/upstreams and below, PATCH …/v1/upstreams/{name}/nodes/{id}. docs/api.md.
 *
 * content_by_lua phase. Restrict who may reach the location: whoever does may take nodes out.
 * @param options read_only = true: nothing can be changed through this location
 */
export function api(options?: ApiOptions): void {
  const [ok, err] = pcall(serve, options);
  if (ok) return;
  fault("api", tostring(err), nowMs());
  respond(apiError("InternalError", "the API failed; the error log has the reason"));
}
