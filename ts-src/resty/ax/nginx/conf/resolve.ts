import * as ffi from "ffi";
import { formatIpv6 } from "../../core/config/ip";
import { type AddrInfo, type CArray, lastError, libc } from "./libc";

// Linux's numbers, the same in glibc and musl.
const AF_UNSPEC = 0;
const AF_INET = 2;
const AF_INET6 = 10;
const SOCK_STREAM = 1;
/** Only address families this machine has an address of: what nginx asks for. */
const AI_ADDRCONFIG = 0x20;
/** The reason is in errno. */
const EAI_SYSTEM = -11;

/** Where the address starts in struct sockaddr_in and sockaddr_in6. */
const IPV4_OFFSET = 4;
const IPV6_OFFSET = 8;

/**
 * Looks a name up as nginx does at start (ngx_inet_resolve_host in src/core/ngx_inet.c): the system's
 * resolver, with /etc/hosts and search domains. Init phase: it blocks.
 * @param name host name
 * @returns its addresses, IPv6 in brackets, in the resolver's order without repetitions; or undefined
 *   and the reason
 */
export function resolveHost(name: string): LuaMultiReturn<[string[] | undefined, string | undefined]> {
  const hints = ffi.new("struct ax_addrinfo") as AddrInfo;
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_ADDRCONFIG;
  const result = ffi.new("struct ax_addrinfo *[1]") as CArray<AddrInfo | undefined>;
  const code = libc.ax_getaddrinfo(name, undefined, hints, result);
  if (code !== 0) {
    return $multi(undefined, code === EAI_SYSTEM ? lastError() : ffi.string(libc.ax_gai_strerror(code)));
  }
  const addresses: string[] = [];
  let entry = result[0];
  // A NULL pointer is not nil, but equals it.
  while (entry !== undefined) {
    const address = addressOf(entry);
    if (address !== undefined && !addresses.includes(address)) addresses.push(address);
    entry = entry.ai_next;
  }
  const first = result[0];
  if (first !== undefined) libc.ax_freeaddrinfo(first);
  if (addresses.length === 0) return $multi(undefined, "it has neither IPv4 nor IPv6 addresses");
  return $multi(addresses, undefined);
}

function addressOf(entry: AddrInfo): string | undefined {
  const bytes = entry.ai_addr;
  if (entry.ai_family === AF_INET) {
    const at = IPV4_OFFSET;
    return `${bytes[at]}.${bytes[at + 1]}.${bytes[at + 2]}.${bytes[at + 3]}`;
  }
  if (entry.ai_family !== AF_INET6) return undefined;
  const groups: number[] = [];
  for (let at = IPV6_OFFSET; at < IPV6_OFFSET + 16; at += 2) groups.push(bytes[at] * 256 + bytes[at + 1]);
  return `[${formatIpv6(groups)}]`;
}
