import { quote } from "../../core/config/show";
import type { AdoptedServer, Adoption, AdoptResult } from "./adoption";
import { resolveHost } from "./resolve";
import { type ParsedServer, parseServerLine } from "./server_line";
import type { UpstreamBlock } from "./upstreams";

/**
 * Servers of an upstream block from its lines alone; names are resolved. Init phase: it blocks.
 * @param block at least one server line
 * @returns the servers, or undefined and an error text with file and line
 */
export function adoptFromBlock(block: UpstreamBlock): AdoptResult {
  const adoption: Adoption = { servers: [], from: block.file, warnings: [] };
  const resolved: Record<string, string[] | undefined> = {};
  for (const line of block.servers) {
    const [server, err] = parseServerLine(line);
    if (server === undefined) return $multi(undefined, `upstream ${quote(block.name)}: ${err}`);
    for (const warning of server.warnings) adoption.warnings.push(warning);
    const [hosts, reason] = hostsOf(server, resolved);
    if (hosts === undefined) return $multi(undefined, `upstream ${quote(block.name)}: ${server.where}: ${reason}`);
    for (const host of hosts) adoption.servers.push(adopted(server, host));
  }
  return $multi(adoption, undefined);
}

/** @param resolved names resolved so far: a name may be in many lines, with other ports */
function hostsOf(
  server: ParsedServer,
  resolved: Record<string, string[] | undefined>,
): LuaMultiReturn<[string[] | undefined, string | undefined]> {
  const host = server.address.host;
  if (!server.address.is_name) return $multi([host], undefined);
  const known = resolved[host];
  if (known !== undefined) return $multi(known, undefined);
  const [hosts, reason] = resolveHost(host);
  resolved[host] = hosts;
  if (hosts !== undefined) return $multi(hosts, undefined);
  return $multi(undefined, `host ${quote(host)} not found: ${reason} (names are resolved once, at start)`);
}

function adopted(server: ParsedServer, host: string): AdoptedServer {
  return {
    name: server.name,
    host,
    port: server.address.port,
    weight: server.weight,
    max_fails: server.max_fails,
    fail_timeout_s: server.fail_timeout_s,
    max_conns: server.max_conns,
    backup: server.backup,
    down: server.down,
  };
}
