import { apiError, type ApiResponse, route } from "../control/api";
import { process, type Worker } from "../dataplane/worker";
import { nowMs } from "../nginx/clock";
import { decode, encodeDocument, jsonArray } from "../nginx/json";
import { processAlive } from "../nginx/process";
import { requestMethod, requestPath, respondJson } from "../nginx/response";
import { FAULT_CODES } from "../observe/codes";
import { readFaults } from "../observe/faults";
import { fault } from "./faults";

function decodeOrNothing(text: string): unknown {
  const [value] = decode(text);
  return value;
}

function answer(worker: Worker): ApiResponse {
  const uri = requestPath();
  // The API may be mounted anywhere: what counts is what follows its version.
  const [path] = string.match(uri, "/v1(/upstreams/?[^/]*/?)$");
  const store = worker.store;
  return route(requestMethod(), path ?? uri, {
    config: worker.config,
    store,
    decode: decodeOrNothing,
    array: jsonArray,
    processAlive,
    pid: worker.exchange.pid,
    now_ms: nowMs(),
    capacity_bytes: store.capacityBytes(),
    free_bytes: store.freeBytes(),
    faults: readFaults(worker.faults, store, FAULT_CODES, decodeOrNothing),
  });
}

function serve(): void {
  const worker = process.worker;
  const response =
    worker === undefined
      ? apiError(
          503,
          "NotInitialised",
          "init() and init_worker() have not run in this worker: see the README's nginx.conf",
        )
      : answer(worker);
  respondJson(
    response.status,
    encodeDocument(response.body) ?? "{}",
    response.allow === undefined ? {} : { Allow: response.allow },
  );
}

/**
 * Serves the status API: GET …/v1/upstreams and …/v1/upstreams/{name}.
 *
 * content_by_lua phase. Restrict who may reach the location.
 */
export function api(): void {
  const [ok, err] = pcall(serve);
  if (ok) return;
  fault("api", tostring(err), nowMs());
  const failed = apiError(500, "InternalError", "the API failed; the error log has the reason");
  respondJson(failed.status, encodeDocument(failed.body) ?? "{}", {});
}
