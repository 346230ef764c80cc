import { formatIpv6, isDigit, parseDecimal, parseIpv4, parseIpv6 } from "./ip";

/**
 * Node addresses: "10.0.0.1:8080", "[2001:db8::1]:8080", "unix:/run/app.sock". IP only: ngx.balancer
 * takes no host names. IPv6 is kept in its canonical form, so that one address has one identity
 * however it was written.
 */
export interface Address {
  /** IPv4, IPv6 in brackets, or "unix:/path". */
  host: string;
  /** 1..65535; 0 for a unix socket. */
  port: number;
}

/** The forms taken, for messages. */
export const ADDRESS_FORMS = `"10.0.0.1:8080", "[::1]:8080" or "unix:/run/x.sock"`;

/** sockaddr_un.sun_path holds 108 bytes on Linux, the last of them a zero. */
const MAX_SOCKET_PATH = 107;

const COLON = 58;

/** The address, or what is wrong with it (to be read after the quoted text). */
export interface ParsedAddress {
  address?: Address;
  problem?: string;
}

function parseUnix(text: string): ParsedAddress {
  const path = text.substring(5);
  if (path.length === 0) return { problem: `has no path; write "unix:/run/x.sock"` };
  if (path.length > MAX_SOCKET_PATH)
    return { problem: `is too long; a socket's path has at most ${MAX_SOCKET_PATH} bytes` };
  for (let i = 0; i < path.length; i++) {
    const code = path.charCodeAt(i);
    if (code < 32 || code === 127) return { problem: "has a control character in its path" };
  }
  return { address: { host: text, port: 0 } };
}

function isLetter(code: number): boolean {
  return (code >= 97 && code <= 122) || (code >= 65 && code <= 90);
}

/** What is wrong with a host that is no IP address. */
function hostProblem(host: string): string {
  let letters = 0;
  for (let i = 0; i < host.length; i++) {
    const code = host.charCodeAt(i);
    const dot_dash_underscore = code === 46 || code === 45 || code === 95;
    if (isLetter(code)) letters++;
    else if (!isDigit(code) && !dot_dash_underscore) return `is not an address; ${ADDRESS_FORMS} is needed`;
  }
  if (letters === 0) return "is not an IPv4 address: four numbers 0..255 without leading zeros, then a port";
  return (
    `is a host name, and nginx takes only IP addresses here (${ADDRESS_FORMS}); ` +
    "for names, leave nodes out and write server lines in the upstream block"
  );
}

function withPort(host: string, port_text: string): ParsedAddress {
  const port = parseDecimal(port_text, 65535);
  if (port < 1) return { problem: "has no valid port; 1..65535 is needed after the last colon" };
  return { address: { host, port } };
}

function parseBracketed(text: string): ParsedAddress {
  const end = text.indexOf("]");
  if (end < 0) return { problem: `has no "]"; write "[::1]:8080"` };
  const inside = text.substring(1, end);
  if (inside.includes("%")) return { problem: "has a zone (%); nginx takes IPv6 addresses without one" };
  const groups = parseIpv6(inside);
  if (groups === undefined) return { problem: `has no valid IPv6 address in its brackets; write "[::1]:8080"` };
  const host = `[${formatIpv6(groups)}]`;
  if (end === text.length - 1) return { problem: `has no port; write "${host}:80"` };
  if (text.charCodeAt(end + 1) !== COLON) return { problem: `has something other than a port after "]"` };
  return withPort(host, text.substring(end + 2));
}

/**
 * @param text an address as the user writes it
 * @returns the address in its one canonical form, or what is wrong with it
 */
export function parseAddress(text: string): ParsedAddress {
  if (text.startsWith("unix:")) return parseUnix(text);
  if (text.startsWith("[")) return parseBracketed(text);
  const scheme = text.indexOf("://");
  if (scheme >= 0) return { problem: `starts with a scheme; write the address alone: ${ADDRESS_FORMS}` };
  const colon = text.indexOf(":");
  if (colon < 0) {
    if (parseIpv4(text) !== undefined) return { problem: `has no port; write "${text}:80"` };
    return { problem: text === "" ? `is empty; ${ADDRESS_FORMS} is needed` : hostProblem(text) };
  }
  const rest = text.substring(colon + 1);
  if (rest.includes(":")) {
    return { problem: `looks like an IPv6 address without brackets; write "[::1]:8080"` };
  }
  const host = text.substring(0, colon);
  if (parseIpv4(host) === undefined) return { problem: hostProblem(host) };
  return withPort(host, rest);
}

/** @returns what identifies a node without a name: "host:port" or "unix:/path" */
export function formatAddress(address: Address): string {
  return address.port === 0 ? address.host : `${address.host}:${address.port}`;
}
