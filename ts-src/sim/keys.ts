/** Who asks: the key and the class of a request, and the address it comes from, as nginx would read them. */
import { HASH_RANGE, hashNumber } from "../resty/ax/core/hash";
import { draw, type Random } from "../resty/ax/core/random";
import type { ClassReader } from "../resty/ax/core/priority";
import type { KeyReader } from "../resty/ax/core/request_key";
import type { Keys, RequestClass } from "./job";
import type { SimRequest } from "./simulation";

/** Number of the hot key, when there is one; the others count up from 1. */
export const HOT_KEY = 0;

/** Seeds of what is drawn from a key's number. */
const NAT_SEED = 11;
const ADDRESS_SEED = 12;

/** The one address that a carrier's customers share: 100.64.0.1 (RFC 6598). */
const NAT_ADDRESS = string.char(100, 64, 0, 1);

export interface KeyDraws {
  keys: Keys | undefined;
  /** Zipf: share of the requests with keys 1 .. k, at index k − 1. */
  below: number[];
}

function zipf(count: number, exponent: number): number[] {
  const below: number[] = [];
  let sum = 0;
  for (let k = 1; k <= count; k++) {
    sum += 1 / k ** exponent;
    below.push(sum);
  }
  for (let k = 0; k < count; k++) below[k] /= sum;
  return below;
}

/** @param keys undefined: every request has a key of its own */
export function newKeyDraws(keys: Keys | undefined): KeyDraws {
  return { keys, below: keys?.kind === "zipf" ? zipf(keys.count, keys.exponent) : [] };
}

/** First index whose value is above u. */
function search(below: number[], u: number): number {
  let low = 0;
  let high = below.length - 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (below[middle] > u) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** @param id number of the request @returns number of its key */
export function drawKey(draws: KeyDraws, random: Random, id: number): number {
  const keys = draws.keys;
  if (keys === undefined) return id;
  if (draw(random) < keys.hot_share) return HOT_KEY;
  const u = draw(random);
  return 1 + (keys.kind === "zipf" ? search(draws.below, u) : Math.floor(u * keys.count));
}

/** The address that the key's owner has at a time: 4 bytes. */
export function addressOf(keys: Keys | undefined, key: number, now_ms: number): string {
  let epoch = 0;
  if (keys !== undefined) {
    if (hashNumber(key, NAT_SEED) < keys.nat_share * HASH_RANGE) return NAT_ADDRESS;
    // Not all at the same moment.
    if (keys.roam_every_s > 0) epoch = Math.floor(now_ms / 1000 / keys.roam_every_s + hashNumber(key, 0) / HASH_RANGE);
  }
  const hash = hashNumber(epoch, hashNumber(key, ADDRESS_SEED));
  const high = Math.floor(hash / 65536);
  const low = hash % 65536;
  return string.char(Math.floor(high / 256), high % 256, Math.floor(low / 256), low % 256);
}

/**
 * What the data plane reads keys with (core/request_key.ts), in the phase of one request.
 * @param by_value the upstream has a `hash_key`: the key's text is its value, else the address is all there is
 */
export function keyReader(current: { request: SimRequest | undefined }, by_value: boolean): KeyReader {
  const reader: KeyReader = {
    is_function: false,
    address: () => current.request?.address,
    port: () => "40000",
  };
  if (by_value) reader.value = () => `user-${current.request?.key ?? 0}`;
  return reader;
}

/**
 * What the data plane reads classes with, in the phase of one request. They come from where clients cannot write: none
 * is taken for a promotion.
 */
export function classReader(current: { request: SimRequest | undefined }, classes: RequestClass[]): ClassReader {
  return {
    is_function: false,
    address: () => "\x7f\x00\x00\x01",
    value() {
      const request = current.request;
      return request !== undefined && request.class_at >= 0 ? classes[request.class_at].name : undefined;
    },
  };
}
