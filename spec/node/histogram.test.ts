import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  addCount,
  bucketOf,
  lowerBoundMs,
  mergeInto,
  newCounts,
  percentile,
  toSparse,
  widthMs,
} from "../../ts-src/resty/ax/core/histogram";

interface Vectors {
  buckets: [number, number][];
  bounds: [number, number, number][];
  percentiles: { samples: number[]; q: number[]; ms: number[] }[];
}

const vectors = JSON.parse(readFileSync(new URL("../vectors/histogram.json", import.meta.url), "utf8")) as Vectors;

function countsOf(samples: number[]): number[] {
  const counts = newCounts();
  for (const ms of samples) addCount(counts, bucketOf(ms), 1);
  return counts;
}

describe("histogram in JavaScript", () => {
  it.each(vectors.buckets)("puts %d ms into bucket %d", (ms, bucket) => {
    expect(bucketOf(ms)).toBe(bucket);
  });

  it.each(vectors.bounds)("bucket %d begins at %d ms and is %d ms wide", (bucket, lower_ms, width_ms) => {
    expect([lowerBoundMs(bucket), widthMs(bucket)]).toEqual([lower_ms, width_ms]);
  });

  it("gives the golden percentiles", () => {
    for (const { samples, q, ms } of vectors.percentiles) {
      const counts = countsOf(samples);
      q.forEach((share, i) => {
        expect(percentile(counts, samples.length, share)).toBeCloseTo(ms[i], 9);
      });
    }
  });

  it("finds percentiles within one bucket width of the exact ones", () => {
    const samples = fc.array(fc.integer({ min: 0, max: 131071 }), { minLength: 1, maxLength: 200 });
    fc.assert(
      fc.property(samples, fc.double({ min: 0.001, max: 1, noNaN: true }), (all, q) => {
        const exact = [...all].sort((a, b) => a - b)[Math.ceil(q * all.length) - 1];
        const found = percentile(countsOf(all), all.length, q);
        expect(Math.abs(found - exact)).toBeLessThanOrEqual(widthMs(bucketOf(exact)));
      }),
      { seed: 1 },
    );
  });

  it("merges parts to the histogram of the whole", () => {
    const latencies = fc.array(fc.integer({ min: 0, max: 200000 }));
    fc.assert(
      fc.property(latencies, latencies, (a, b) => {
        const merged: number[] = [];
        mergeInto(merged, countsOf(a));
        mergeInto(merged, countsOf(b));
        expect(toSparse(merged)).toEqual(toSparse(countsOf([...a, ...b])));
      }),
      { seed: 2 },
    );
  });
});
