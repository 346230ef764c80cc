import { quote } from "../../core/config/show";
import type { AdoptedServer, Adoption, AdoptResult } from "./adoption";
import { apiAddresses, type ApiServer } from "./ngx_upstream";
import { parseServerAddress, type ServerAddress } from "./server_address";
import { type ParsedServer, parseServerLine } from "./server_line";
import type { UpstreamBlock } from "./upstreams";

/** nginx's defaults, which ngx.upstream gives for what was not written. */
const NGINX_MAX_FAILS = 1;
const NGINX_FAIL_TIMEOUT_S = 10;

/**
 * Servers of an upstream block from ngx.upstream, with what it cannot tell (max_conns, and whether
 * max_fails and fail_timeout were written) from the block's lines where they can be had.
 * @param upstream name of the block
 * @param servers at least one
 * @param block the block in the configuration file, if it was found there
 * @returns the servers, or undefined and an error text
 */
export function adoptFromApi(upstream: string, servers: ApiServer[], block: UpstreamBlock | undefined): AdoptResult {
  const adoption: Adoption = { servers: [], from: "ngx.upstream", warnings: [] };
  const lines = block === undefined ? [] : parsedLines(block, adoption.warnings);
  for (const server of servers) {
    const line = takeLine(lines, server);
    if (line !== undefined) for (const warning of line.warnings) adoption.warnings.push(warning);
    if (line === undefined && block !== undefined) {
      const where = `the block at ${block.file}:${block.line}`;
      adoption.warnings.push(
        `server ${quote(server.name ?? "")} is not in ${where}: its max_conns, if any, is not seen`,
      );
    }
    const [addresses, err] = addressesOf(server);
    if (addresses === undefined) return $multi(undefined, `upstream ${quote(upstream)}: ${err}`);
    for (const address of addresses) adoption.servers.push(adopted(server, line, address));
  }
  return $multi(adoption, undefined);
}

/** Lines that cannot be understood are left out with a warning: nginx did take them. */
function parsedLines(block: UpstreamBlock, warnings: string[]): ParsedServer[] {
  const lines: ParsedServer[] = [];
  for (const written of block.servers) {
    const [line, err] = parseServerLine(written);
    if (line !== undefined) lines.push(line);
    else warnings.push(err ?? "");
  }
  return lines;
}

/** The first line of that name that no earlier server has taken: both are in the block's order. */
function takeLine(lines: ParsedServer[], server: ApiServer): ParsedServer | undefined {
  for (let i = 0; i < lines.length; i++) {
    if (lines[i].name === server.name) return lines.splice(i, 1)[0];
  }
  return undefined;
}

/** @returns the server's addresses without repetitions, or undefined and an error text */
function addressesOf(server: ApiServer): LuaMultiReturn<[ServerAddress[] | undefined, string | undefined]> {
  const addresses: ServerAddress[] = [];
  const seen: Record<string, boolean | undefined> = {};
  for (const text of apiAddresses(server)) {
    const [address] = parseServerAddress(text);
    if (address === undefined || address.is_name) {
      const reason = 'names are resolved once, at start; take "resolve" out, or list the nodes under "nodes"';
      return $multi(
        undefined,
        `server ${quote(server.name ?? "")} has no address at start (${quote(text)}): ${reason}`,
      );
    }
    const id = `${address.host}:${address.port}`;
    if (seen[id] === undefined) addresses.push(address);
    seen[id] = true;
  }
  return $multi(addresses, undefined);
}

function adopted(server: ApiServer, line: ParsedServer | undefined, address: ServerAddress): AdoptedServer {
  // Without the line, a value that is nginx's default counts as not written.
  const max_fails = server.max_fails === NGINX_MAX_FAILS ? undefined : server.max_fails;
  const fail_timeout_s = server.fail_timeout === NGINX_FAIL_TIMEOUT_S ? undefined : server.fail_timeout;
  return {
    name: server.name ?? address.host,
    host: address.host,
    port: address.port,
    weight: server.weight,
    max_fails: line === undefined ? max_fails : line.max_fails,
    fail_timeout_s: line === undefined ? fail_timeout_s : line.fail_timeout_s,
    max_conns: line === undefined ? 0 : line.max_conns,
    backup: server.backup === true,
    down: server.down === true,
  };
}
