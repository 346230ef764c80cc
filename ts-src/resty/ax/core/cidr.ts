import { parseDecimal, parseIpv4, parseIpv6 } from "./config/ip";

/** Address ranges ("10.0.0.0/8", "2001:db8::/32", one address), matched against addresses as bytes. */

/** One range. */
export interface Cidr {
  /** 4 (IPv4) or 16 (IPv6). */
  bytes: number[];
  /** Leading bits that count. */
  bits: number;
}

/** What is taken, for messages. */
export const CIDR_FORMS = 'an address or a range like "10.0.0.0/8" or "2001:db8::/32"';

function bytesOf(address: string): number[] | undefined {
  const ipv4 = parseIpv4(address);
  if (ipv4 !== undefined) return ipv4;
  const groups = parseIpv6(address);
  if (groups === undefined) return undefined;
  const bytes: number[] = [];
  for (let i = 0; i < 8; i++) bytes.push(Math.floor(groups[i] / 256), groups[i] % 256);
  return bytes;
}

/** @returns the range, or undefined when the text is none */
export function parseCidr(text: string): Cidr | undefined {
  const slash = text.indexOf("/");
  const bytes = bytesOf(slash < 0 ? text : text.substring(0, slash));
  if (bytes === undefined) return undefined;
  const most = bytes.length * 8;
  const bits = slash < 0 ? most : parseDecimal(text.substring(slash + 1), most);
  return bits < 0 ? undefined : { bytes, bits };
}

/** @returns what is wrong with a range, to be read after the quoted text */
export function checkCidr(text: string): string | undefined {
  return parseCidr(text) === undefined ? `is no address range; ${CIDR_FORMS} is needed` : undefined;
}

/** Whether the bytes from `from` on begin with the range's bits. */
function beginsWith(address: string, from: number, cidr: Cidr): boolean {
  const whole = Math.floor(cidr.bits / 8);
  for (let i = 0; i < whole; i++) if (address.charCodeAt(from + i) !== cidr.bytes[i]) return false;
  const rest = cidr.bits - whole * 8;
  if (rest === 0) return true;
  const unit = 2 ** (8 - rest);
  return Math.floor(address.charCodeAt(from + whole) / unit) === Math.floor(cidr.bytes[whole] / unit);
}

/** Whether 16 bytes are an IPv4 address written as IPv6, ::ffff:a.b.c.d (RFC 4291, 2.5.5.2). */
function isMapped(address: string): boolean {
  for (let i = 0; i < 10; i++) if (address.charCodeAt(i) !== 0) return false;
  return address.charCodeAt(10) === 255 && address.charCodeAt(11) === 255;
}

/**
 * @param address 4 bytes (IPv4) or 16 (IPv6), as $binary_remote_addr; of any other length it is in no range
 * @returns whether it is in one of the ranges; an IPv4 address written as IPv6 counts as IPv4 too
 */
export function isInRanges(address: string, ranges: Cidr[]): boolean {
  const length = address.length;
  for (let i = 0; i < ranges.length; i++) {
    const size = ranges[i].bytes.length;
    if (size === length && beginsWith(address, 0, ranges[i])) return true;
    if (size === 4 && length === 16 && isMapped(address) && beginsWith(address, 12, ranges[i])) return true;
  }
  return false;
}
