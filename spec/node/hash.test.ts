// The same vectors as spec/unit/hash_spec.lua: keys must go to the same node in Lua and in JavaScript.
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { hashBytes, hashNumber, hashPair, mixHashes } from "../../ts-src/resty/ax/core/hash";
import { hashAddress, keyOf } from "../../ts-src/resty/ax/core/request_key";
import { nodeAt, seek } from "../../ts-src/resty/ax/core/ring";
import { buildRing } from "../../ts-src/resty/ax/core/ring_builder";

interface Vectors {
  hashes: { hex: string; seed: number; hash: number }[];
  numbers: { a: number; b: number; seed: number; one: number; two: number; mixed: number }[];
  rings: { ids: string[]; counts: number[]; keys: number[]; owners: string[]; size: number }[];
  addresses: { text: string; hex: string; ipv4: number; ipv6: number; key: number }[];
}

const vectors = JSON.parse(readFileSync(new URL("../vectors/hash.json", import.meta.url), "utf8")) as Vectors;

/** One character a byte. */
const bytesOf = (hex: string): string => Buffer.from(hex, "hex").toString("latin1");

describe("hashes in JavaScript", () => {
  it("of bytes are MurmurHash3's", () => {
    for (const { hex, seed, hash } of vectors.hashes) expect(hashBytes(bytesOf(hex), seed)).toBe(hash);
  });

  it("of numbers are those of their bytes", () => {
    for (const { a, b, seed, one, two, mixed } of vectors.numbers) {
      expect(hashNumber(a, seed)).toBe(one);
      expect(hashPair(a, b, seed)).toBe(two);
      expect(mixHashes(a, b)).toBe(mixed);
    }
  });

  it("of addresses are those of their prefixes", () => {
    for (const { hex, ipv4, ipv6, key } of vectors.addresses) {
      const how = { ipv4_prefix_bits: ipv4, ipv6_prefix_bits: ipv6, port: false };
      expect(hashAddress(bytesOf(hex), how)).toBe(key);
      expect(keyOf("", bytesOf(hex), "1234", how)).toBe(key);
      expect(keyOf("", bytesOf(hex), "1234", { ...how, port: true })).toBe(hashBytes("1234", key));
      expect(keyOf("id", bytesOf(hex), "", how)).toBe(hashBytes("id", key));
    }
  });
});

describe("rings in JavaScript", () => {
  it.each(vectors.rings)("of $ids give each key its owner", ({ ids, counts, keys, owners, size }) => {
    const ring = buildRing(ids, counts);
    expect(ring.size).toBe(size);
    expect(keys.map((key) => ids[nodeAt(ring, seek(ring, key), 0)])).toEqual(owners);
  });
});
