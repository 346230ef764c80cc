import { hashBytes, hashNumber, hashPrefix, KEY_SEED } from "./hash";
import type { AddressKey } from "./strategy";

/** nginx's ip_hash: neighbours share a node. A provider's customer keeps it over most changes of address. */
export const IPV4_PREFIX_BITS = 24;

/** What a site gets (RFC 6177): hosts change the lower half at will (RFC 8981). */
export const IPV6_PREFIX_BITS = 64;

/** What a request's key is made of. nginx/key_reader.ts reads requests; tests pass their own. */
export interface KeyReader {
  /** Value of the upstream's `hash_key`; absent when none is configured. Nothing or "" = this request has none. */
  value?(this: void): unknown;
  /** `value` is a function of the user's: it may throw, and return anything. */
  is_function: boolean;
  /** The client's address as bytes: 4, 16, or something else (unix sockets). */
  address(this: void): string | undefined;
  /** The client's port. */
  port(this: void): string | undefined;
}

/** Whether 16 bytes are an IPv4 address written as IPv6, ::ffff:a.b.c.d (RFC 4291, 2.5.5.2). */
function isMapped(bytes: string): boolean {
  for (let k = 0; k < 10; k++) if (bytes.charCodeAt(k) !== 0) return false;
  return bytes.charCodeAt(10) === 255 && bytes.charCodeAt(11) === 255;
}

/** Hashes the first `bits` bits. */
function hashBits(bytes: string, bits: number): number {
  const whole = Math.floor(bits / 8);
  const rest = bits - whole * 8;
  const hash = hashPrefix(bytes, whole, KEY_SEED);
  if (rest === 0) return hash;
  const byte = bytes.charCodeAt(whole);
  return hashNumber(byte - (byte % (1 << (8 - rest))), hash);
}

/**
 * Hashes an address so that all with the same leading bits give the same.
 * @param bytes 4 (IPv4), 16 (IPv6); anything else counts whole
 * @returns 0 .. 2^32-1
 */
export function hashAddress(bytes: string, how: AddressKey): number {
  if (bytes.length === 4) return hashBits(bytes, how.ipv4_prefix_bits);
  if (bytes.length !== 16) return hashBytes(bytes, KEY_SEED);
  if (isMapped(bytes)) return hashBits(bytes.slice(12), how.ipv4_prefix_bits);
  return hashBits(bytes, how.ipv6_prefix_bits);
}

/** Options of the names in AddressKey; nginx's own prefixes where a module of the user's has none. */
export function addressKeyOf(options: Record<string, unknown>): AddressKey {
  return {
    ipv4_prefix_bits: (options["ipv4_prefix_bits"] as number | undefined) ?? IPV4_PREFIX_BITS,
    ipv6_prefix_bits: (options["ipv6_prefix_bits"] as number | undefined) ?? IPV6_PREFIX_BITS,
    port: options["port"] === true,
  };
}

/**
 * The key of a request.
 * @param text value of `hash_key`; "" = none
 * @param address the client's address as bytes; read when there is no text, or `how` is given
 * @param port the client's port; read when `how` asks for it
 * @param how undefined: the text is the key, the address stands in for it
 * @returns 0 .. 2^32-1
 */
export function keyOf(text: string, address: string, port: string, how: AddressKey | undefined): number {
  if (how === undefined) return hashBytes(text !== "" ? text : address, KEY_SEED);
  let key = hashAddress(address, how);
  if (how.port) key = hashBytes(port, key);
  return text !== "" ? hashBytes(text, key) : key;
}
