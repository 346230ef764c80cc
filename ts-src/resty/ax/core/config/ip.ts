/**
 * IP addresses as text: IPv4 dotted quads, and IPv6 by RFC 4291 section 2.2 (without zones), written
 * back in the one form of RFC 5952.
 */

const DOT = 46;
const COLON = 58;
const HEX = "0123456789abcdef";

/** @returns whether the character code is 0-9 */
export function isDigit(code: number): boolean {
  return code >= 48 && code <= 57;
}

function hexValue(code: number): number {
  if (isDigit(code)) return code - 48;
  if (code >= 97 && code <= 102) return code - 87;
  return code >= 65 && code <= 70 ? code - 55 : -1;
}

/** @returns the whole decimal number without leading zeros, at most `max` (≤ 99999); -1 otherwise */
export function parseDecimal(text: string, max: number): number {
  const length = text.length;
  if (length === 0 || length > 5 || (length > 1 && text.charCodeAt(0) === 48)) return -1;
  let value = 0;
  for (let i = 0; i < length; i++) {
    const code = text.charCodeAt(i);
    if (!isDigit(code)) return -1;
    value = value * 10 + code - 48;
  }
  return value <= max ? value : -1;
}

/** @returns the parts between separators */
function split(text: string, separator: number): string[] {
  const parts: string[] = [];
  let start = 0;
  for (let i = 0; i <= text.length; i++) {
    if (i === text.length || text.charCodeAt(i) === separator) {
      parts.push(text.substring(start, i));
      start = i + 1;
    }
  }
  return parts;
}

/**
 * @param text dotted quad; no leading zeros, which some read as octal
 * @returns four numbers 0..255, or undefined
 */
export function parseIpv4(text: string): number[] | undefined {
  if (text.length > 15) return undefined;
  const parts = split(text, DOT);
  if (parts.length !== 4) return undefined;
  const bytes: number[] = [];
  for (let i = 0; i < 4; i++) {
    const byte = parseDecimal(parts[i], 255);
    if (byte < 0) return undefined;
    bytes.push(byte);
  }
  return bytes;
}

/** Reads groups without "::"; the last may be a dotted quad when `quad`. */
function parseGroups(text: string, quad: boolean): number[] | undefined {
  const groups: number[] = [];
  if (text === "") return groups;
  const parts = split(text, COLON);
  for (let i = 0; i < parts.length; i++) {
    const part = parts[i];
    const bytes = quad && i === parts.length - 1 ? parseIpv4(part) : undefined;
    if (bytes !== undefined) {
      groups.push(bytes[0] * 256 + bytes[1], bytes[2] * 256 + bytes[3]);
      continue;
    }
    if (part.length === 0 || part.length > 4) return undefined;
    let value = 0;
    for (let k = 0; k < part.length; k++) {
      const digit = hexValue(part.charCodeAt(k));
      if (digit < 0) return undefined;
      value = value * 16 + digit;
    }
    groups.push(value);
  }
  return groups;
}

/**
 * @param text IPv6 without brackets and zone
 * @returns eight numbers 0..65535, or undefined
 */
export function parseIpv6(text: string): number[] | undefined {
  if (text.length > 45) return undefined;
  const gap = text.indexOf("::");
  if (gap < 0) {
    const groups = parseGroups(text, true);
    return groups !== undefined && text !== "" && groups.length === 8 ? groups : undefined;
  }
  const head = parseGroups(text.substring(0, gap), false);
  const tail = parseGroups(text.substring(gap + 2), true);
  // "::" stands for at least one group (RFC 4291 says "one or more").
  if (head === undefined || tail === undefined || head.length + tail.length > 7) return undefined;
  while (head.length + tail.length < 8) head.push(0);
  for (let i = 0; i < tail.length; i++) head.push(tail[i]);
  return head;
}

function hex(value: number): string {
  let text = "";
  let rest = value;
  do {
    text = HEX.charAt(rest % 16) + text;
    rest = Math.floor(rest / 16);
  } while (rest > 0);
  return text;
}

/** The longest run of at least two zero groups, the first of equal ones (RFC 5952, 4.2). */
function longestZeros(groups: number[]): { start: number; length: number } {
  const longest = { start: -1, length: 1 };
  let length = 0;
  for (let i = 0; i < 8; i++) {
    length = groups[i] === 0 ? length + 1 : 0;
    if (length > longest.length) {
      longest.start = i - length + 1;
      longest.length = length;
    }
  }
  return longest;
}

/**
 * @param groups eight numbers 0..65535
 * @returns the one text form of RFC 5952; IPv4-mapped addresses end in a dotted quad, as nginx writes them
 */
export function formatIpv6(groups: number[]): string {
  const zeros = longestZeros(groups);
  if (zeros.start === 0 && zeros.length === 5 && groups[5] === 65535) {
    const high = groups[6];
    const low = groups[7];
    return `::ffff:${Math.floor(high / 256)}.${high % 256}.${Math.floor(low / 256)}.${low % 256}`;
  }
  let text = "";
  let i = 0;
  while (i < 8) {
    if (i === zeros.start) {
      text += "::";
      i += zeros.length;
    } else {
      text += (text === "" || text.endsWith("::") ? "" : ":") + hex(groups[i]);
      i++;
    }
  }
  return text;
}
