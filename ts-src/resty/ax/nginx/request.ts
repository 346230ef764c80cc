import * as ffi from "ffi";
import * as base from "resty.core.base";

// Looked up once: for a trace, a local variable is a constant.
const cast = ffi.cast;
const getRequest = base.get_request;
const startTime = ngx.req.start_time;

/**
 * The address of nginx's structure for the current request, as a number: constant over retries and
 * internal redirects, reused after the request has ended. Request phases only.
 */
export function requestKey(): number {
  // A user-space address has 47 bits: a double holds it exactly. Not returned directly: LuaJIT does not
  // compile a tail call of a built-in function.
  const key = tonumber(cast("uintptr_t", getRequest())) as number;
  return key;
}

/** When the current request began, seconds with ms resolution. Only for comparing: it is wall-clock time. */
export function requestBorn(): number {
  const born = startTime();
  return born;
}

export function isSubrequest(): boolean {
  return ngx.is_subrequest;
}

/** The same for a main request and its subrequests, and different for any other request of this worker alive. */
export function requestFamily(): string {
  return `${ngx.var["connection"] ?? ""}:${ngx.var["connection_requests"] ?? ""}`;
}

/** A variable of the current request, or undefined when it has no value. */
export function variable(name: string): string | undefined {
  return ngx.var[name];
}

/** Methods that nginx does not send again once they were sent (without proxy_next_upstream's non_idempotent). */
const NOT_REPEATED: Record<string, boolean | undefined> = { POST: true, LOCK: true, PATCH: true };

/** Whether nginx may send the current request to another node after it failed at one. */
export function isIdempotent(): boolean {
  return NOT_REPEATED[ngx.req.get_method()] !== true;
}

/**
 * Whether the current request announces that it is going to last, however well its node does: a WebSocket, or an event
 * stream. What it lasts tells nothing about the node.
 */
export function mayLast(): boolean {
  const upgrade = ngx.var["http_upgrade"];
  if (upgrade !== undefined && upgrade !== "") return true;
  const [found] = string.find(ngx.var["http_accept"] ?? "", "text/event-stream", 1, true);
  return found !== undefined;
}

/** Retry-After of the last answer of an upstream node, ms; 0 = none. A date, as RFC 9110 allows, counts as 1 s. */
export function retryAfterMs(): number {
  const value = ngx.var["upstream_http_retry_after"];
  if (value === undefined || value === "") return 0;
  const seconds = tonumber(value);
  return seconds !== undefined && seconds > 0 && seconds < 1e6 ? seconds * 1000 : 1000;
}
