/** What the access phase does to a request that does not simply go on. */

/** nginx's own status for "the client went away". */
const CLIENT_GONE = 499;

const REFUSED = 503;

/**
 * Answers 503 with the reason in a header. `error_page 503` applies. Access phase; does not return.
 * @param retry_after_s 0 = no Retry-After header
 */
export function refuse(reason: string, retry_after_s: number): void {
  ngx.header["X-AX-Reject"] = reason;
  if (retry_after_s > 0) ngx.header["Retry-After"] = `${retry_after_s}`;
  ngx.exit(REFUSED);
}

/** Ends a request whose client has gone. Access phase; does not return. */
export function endAborted(): void {
  ngx.exit(CLIENT_GONE);
}

/**
 * Has `callback` called when the client goes away while this phase's Lua runs.
 * @returns whether it will be: it takes `lua_check_client_abort on`, and no other such callback
 */
export function onAbort(callback: (this: void) => void): boolean {
  const [ok] = ngx.on_abort(callback);
  return ok !== undefined;
}
