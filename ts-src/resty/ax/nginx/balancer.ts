import * as balancer from "ngx.balancer";

/** Status that makes nginx end the request with 502 instead of asking for another peer (NGX_BUSY). */
const NO_LIVE_PEER = -3;

/**
 * Sends the current try to a peer. Balancer phase.
 * @param host an IP address (IPv6 in brackets) or "unix:/path"
 * @param port 0 for a unix socket
 */
export function setPeer(host: string, port: number): LuaMultiReturn<[true | undefined, string | undefined]> {
  return balancer.set_current_peer(host, port);
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
  return balancer.get_last_failure();
}

/** Ends the tries: the client gets nginx's 502. Balancer phase. */
export function endTries(): void {
  ngx.exit(NO_LIVE_PEER);
}
