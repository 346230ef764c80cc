import * as balancer from "ngx.balancer";

// Looked up once: for a trace, a local variable is a constant.
const setCurrentPeer = balancer.set_current_peer;
const getLastFailure = balancer.get_last_failure;

/** Status that makes nginx end the request with 502 instead of asking for another peer (NGX_BUSY). */
const NO_LIVE_PEER = -3;

/**
 * Sends the current try to a peer. Balancer phase.
 * @param host an IP address (IPv6 in brackets) or "unix:/path"
 * @param port 0 for a unix socket
 */
export function setPeer(host: string, port: number): LuaMultiReturn<[true | undefined, string | undefined]> {
  return setCurrentPeer(host, port);
}

/**
 * Whether connections can be kept from Lua: lua-resty-core 0.1.29 and lua-nginx-module 0.10.27 can. The function is
 * looked for, not the version: builds carry patches.
 */
function canKeepConnections(): boolean {
  return typeof balancer.enable_keepalive === "function";
}

/** @returns what is to be said at the start of an upstream with `lua_keepalive`; undefined = nothing */
export function keepaliveProblem(upstream: string): string | undefined {
  if (canKeepConnections()) return undefined;
  return (
    `upstreams.${upstream}.lua_keepalive: this nginx's lua-resty-core has no balancer.enable_keepalive (0.1.29 has); ` +
    "the option has no effect: put keepalive into the upstream block, after balancer_by_lua"
  );
}

/**
 * Keeps the connection of the current try for later ones, when it ends well. After `setPeer`. Does nothing where nginx
 * cannot. Balancer phase.
 * @param idle_timeout_s 0 = for ever
 * @param max_requests 0 = any number
 */
export function keepConnection(idle_timeout_s: number, max_requests: number): void {
  balancer.enable_keepalive?.(idle_timeout_s, max_requests);
}

/** Allows more tries. Once per request at most: called on every try, they never end. Balancer phase. */
export function allowTries(count: number): void {
  balancer.set_more_tries(count);
}

/**
 * How the previous try ended.
 * @returns "failed" or "next" and a status; undefined on the first try
 */
export function lastFailure(): LuaMultiReturn<
  ["next" | "failed" | "keepalive" | undefined, number | string | undefined]
> {
  return getLastFailure();
}

/** Ends the tries: the client gets nginx's 502. Balancer phase. */
export function endTries(): void {
  ngx.exit(NO_LIVE_PEER);
}
