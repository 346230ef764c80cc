/**
 * lua-upstream-nginx-module, which OpenResty has and most others do not. Only get_upstreams and
 * get_servers are used: get_primary_peers and set_peer_down crash the worker when the upstream has
 * a `zone`.
 */

/** A `server` line as ngx.upstream gives it. */
export interface ApiServer {
  /** As written; absent when this is no `server` line but the address of a proxy_pass. */
  name?: string;
  /** One address, or a list where the name has several; "" where nginx resolves at run time. */
  addr: string | string[];
  weight: number;
  /** nginx's default when the line does not say it: no way to tell here. */
  max_fails: number;
  /** Seconds; as for max_fails. */
  fail_timeout: number;
  /** Absent when false. */
  backup?: boolean;
  down?: boolean;
}

export interface UpstreamApi {
  get_upstreams(this: void): string[];
  get_servers(this: void, name: string): LuaMultiReturn<[ApiServer[] | undefined, string | undefined]>;
}

/** @returns the module, or undefined where nginx is built without it. Init phase. */
export function upstreamApi(): UpstreamApi | undefined {
  const [ok, loaded] = pcall(require, "ngx.upstream");
  if (!ok || type(loaded) !== "table") return undefined;
  const api = loaded as Partial<UpstreamApi>;
  if (type(api.get_servers) !== "function" || type(api.get_upstreams) !== "function") return undefined;
  return api as UpstreamApi;
}

/**
 * @returns the block's servers; undefined when nginx has no such block (an upstream that exists only
 *   as the address of a proxy_pass is none: its servers have no names)
 */
export function apiServers(api: UpstreamApi, upstream: string): ApiServer[] | undefined {
  let [servers] = api.get_servers(upstream);
  if (servers === undefined) {
    // nginx takes names without regard to case, get_servers does not.
    for (const name of api.get_upstreams()) {
      if (string.lower(name) === string.lower(upstream)) servers = api.get_servers(name)[0];
    }
  }
  return servers === undefined || (servers.length > 0 && servers[0].name === undefined) ? undefined : servers;
}

/** @returns the names of nginx's upstream blocks */
export function apiUpstreams(api: UpstreamApi): string[] {
  const names: string[] = [];
  for (const name of api.get_upstreams()) {
    if (apiServers(api, name) !== undefined) names.push(name);
  }
  return names;
}

/** @returns a server's addresses as "host:port" */
export function apiAddresses(server: ApiServer): string[] {
  return type(server.addr) === "string" ? [server.addr as string] : (server.addr as string[]);
}
