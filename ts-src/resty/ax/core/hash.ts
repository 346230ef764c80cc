/**
 * MurmurHash3_x86_32 (Austin Appleby, public domain, smhasher/src/MurmurHash3.cpp): fast, well mixed,
 * the same in Lua and in JavaScript. Not for secrets: who knows the seed can make keys collide.
 *
 * Bit operations give signed 32-bit numbers in both languages; `multiply` keeps products exact (an
 * operand is halved, so that no product passes 2^48), and only results are brought to 0 .. 2^32-1.
 */
/* eslint-disable ax/no-unsigned-shift -- by at least one bit the result is the same, and positive, in both languages */

/** 2^32: hashes are below it. */
export const HASH_RANGE = 4294967296;

/** Seed of request keys. Any constant does; it must never change, or every key moves. */
export const KEY_SEED = 0;

const C1 = 0xcc9e2d51;
const C2 = 0x1b873593;

/** The low 32 bits of a · b. @param b 0 .. 2^32-1 */
function multiply(a: number, b: number): number {
  return ((a & 0xffff) * b + ((((a >>> 16) * b) & 0xffff) << 16)) | 0;
}

/** One block of the body. */
function mixIn(hash: number, block: number): number {
  let k = multiply(block, C1);
  k = multiply((k << 15) | (k >>> 17), C2);
  const h = hash ^ k;
  return (((h << 13) | (h >>> 19)) * 5 + 0xe6546b64) | 0;
}

/** The tail's block, which is mixed in without the last steps. */
function mixTail(hash: number, block: number): number {
  const k = multiply(block, C1);
  return hash ^ multiply((k << 15) | (k >>> 17), C2);
}

/** The finalizer: every bit of the input reaches every bit of the result. */
function finish(hash: number, length: number): number {
  let h = hash ^ length;
  h = multiply(h ^ (h >>> 16), 0x85ebca6b);
  h = multiply(h ^ (h >>> 13), 0xc2b2ae35);
  h = h ^ (h >>> 16);
  return h < 0 ? h + HASH_RANGE : h;
}

/**
 * Hashes the first `length` bytes of a string.
 * @param bytes in JavaScript: one character a byte, none above 255
 * @param seed 0 .. 2^32-1
 * @returns 0 .. 2^32-1
 */
export function hashPrefix(bytes: string, length: number, seed: number): number {
  let hash = seed | 0;
  let at = 0;
  while (at + 4 <= length) {
    hash = mixIn(
      hash,
      bytes.charCodeAt(at) |
        (bytes.charCodeAt(at + 1) << 8) |
        (bytes.charCodeAt(at + 2) << 16) |
        (bytes.charCodeAt(at + 3) << 24),
    );
    at += 4;
  }
  if (at < length) {
    let tail = bytes.charCodeAt(at);
    if (at + 1 < length) tail |= bytes.charCodeAt(at + 1) << 8;
    if (at + 2 < length) tail |= bytes.charCodeAt(at + 2) << 16;
    hash = mixTail(hash, tail);
  }
  return finish(hash, length);
}

/** Hashes a string of bytes; see `hashPrefix`. */
export function hashBytes(bytes: string, seed: number): number {
  return hashPrefix(bytes, bytes.length, seed);
}

/**
 * Hashes one 32-bit number: the same as hashing its four bytes, lowest first. No loop.
 * @param value 0 .. 2^32-1
 * @param seed 0 .. 2^32-1
 * @returns 0 .. 2^32-1
 */
export function hashNumber(value: number, seed: number): number {
  return finish(mixIn(seed | 0, value | 0), 4);
}

/**
 * MurmurHash3's finalizer over two hashes: a draw that belongs to both, at half the cost of hashing one
 * with the other. Only for numbers that are hashes already.
 * @returns 0 .. 2^32-1
 */
export function mixHashes(first: number, second: number): number {
  return finish(first ^ second, 0);
}

/**
 * Hashes two 32-bit numbers: the same as hashing their eight bytes.
 * @returns 0 .. 2^32-1
 */
export function hashPair(first: number, second: number, seed: number): number {
  return finish(mixIn(mixIn(seed | 0, first | 0), second | 0), 8);
}
