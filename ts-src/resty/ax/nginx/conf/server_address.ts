import { formatIpv6, parseIpv6 } from "../../core/config/ip";

/** The address of a `server` line, cut as ngx_parse_url in src/core/ngx_inet.c of nginx cuts it. */
export interface ServerAddress {
  /** IPv4, IPv6 in brackets, "unix:/path", or a host name if `is_name`. */
  host: string;
  /** 1..65535; 0 for a unix socket. */
  port: number;
  is_name: boolean;
}

const DEFAULT_PORT = 80;

/** sockaddr_un.sun_path holds 108 bytes on Linux, the last of them a zero. */
const MAX_SOCKET_PATH = 107;

type Parsed = LuaMultiReturn<[ServerAddress | undefined, string | undefined]>;

/**
 * @param text "10.0.0.1", "10.0.0.1:80", "app", "app:80", "[::1]", "[::1]:80" or "unix:/path"; port 80 by default
 * @returns the address, or undefined and what is wrong with it
 */
export function parseServerAddress(text: string): Parsed {
  if (string.find(text, "[%z%c ]")[0] !== undefined) {
    return $multi(undefined, "a blank or control character in the address");
  }
  if (string.lower(string.sub(text, 1, 5)) === "unix:") return parseUnix(string.sub(text, 6));
  if (string.sub(text, 1, 1) === "[") return parseBracketed(text);
  if (string.find(text, "^%a[%w+.-]*://")[0] !== undefined) {
    return $multi(undefined, 'an address without "http://" is needed');
  }
  if (string.find(text, "[/?]")[0] !== undefined) return $multi(undefined, 'a host without "/" or "?" is needed');
  const [colon] = string.find(text, ":", 1, true);
  const host = colon === undefined ? text : string.sub(text, 1, colon - 1);
  const [port, err] = parsePort(colon === undefined ? undefined : string.sub(text, colon + 1));
  if (port === undefined) return $multi(undefined, err);
  if (host === "") return $multi(undefined, "no host");
  const ipv4 = parseNginxIpv4(host);
  return $multi({ host: ipv4 ?? host, port, is_name: ipv4 === undefined }, undefined);
}

function parseUnix(path: string): Parsed {
  if (path === "") return $multi(undefined, 'no path after "unix:"');
  if (path.length > MAX_SOCKET_PATH) {
    return $multi(undefined, `a socket's path of more than ${MAX_SOCKET_PATH} bytes`);
  }
  return $multi({ host: `unix:${path}`, port: 0, is_name: false }, undefined);
}

function parseBracketed(text: string): Parsed {
  const [inside, rest] = string.match(text, "^%[([^%]]*)%](.*)$");
  if (inside === undefined) return $multi(undefined, 'no "]"');
  const groups = parseIpv6(inside);
  if (groups === undefined) return $multi(undefined, "no valid IPv6 address in the brackets");
  if (rest !== "" && string.sub(rest, 1, 1) !== ":") {
    return $multi(undefined, 'something other than ":" and a port after "]"');
  }
  const [port, err] = parsePort(rest === "" ? undefined : string.sub(rest, 2));
  if (port === undefined) return $multi(undefined, err);
  return $multi({ host: `[${formatIpv6(groups)}]`, port, is_name: false }, undefined);
}

function parsePort(text: string | undefined): LuaMultiReturn<[number | undefined, string | undefined]> {
  if (text === undefined) return $multi(DEFAULT_PORT, undefined);
  const port = string.find(text, "^%d+$")[0] === undefined ? undefined : tonumber(text);
  if (port === undefined || port < 1 || port > 65535) {
    const ipv6 = string.find(text, ":", 1, true)[0] !== undefined;
    return $multi(undefined, ipv6 ? "an IPv6 address needs brackets: [::1]:80" : "the port must be 1..65535");
  }
  return $multi(port, undefined);
}

/**
 * Four numbers as nginx reads them (ngx_inet_addr): decimal even with leading zeros, where the C
 * library would read octal. nginx takes 255.255.255.255 for a name, and so do we.
 */
function parseNginxIpv4(text: string): string | undefined {
  const [a, b, c, d] = string.match(text, "^(%d*)%.(%d*)%.(%d*)%.(%d*)$");
  if (a === undefined) return undefined;
  let canonical = "";
  for (const part of [a, b, c, d]) {
    const value = part === "" ? 0 : (tonumber(part) ?? 256);
    if (value > 255) return undefined;
    canonical += `${canonical === "" ? "" : "."}${value}`;
  }
  return canonical === "255.255.255.255" ? undefined : canonical;
}
