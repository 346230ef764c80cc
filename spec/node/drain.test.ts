// The same vectors as spec/unit/drain_spec.lua: draining must go the same way in Lua and in JavaScript.
import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { newDrain, nextClass, noteClassServed, stepDrain } from "../../ts-src/resty/ax/core/drain";

interface Vectors {
  steps: { name: string; max_extra: number; looks: [number, number, number | null, number, number][]; over: boolean }[];
  turns: { weights: number[]; counts: number[]; turns: number[] }[];
}

const vectors = JSON.parse(readFileSync(new URL("../vectors/drain.json", import.meta.url), "utf8")) as Vectors;

/** Serves one entry of those that wait; 0 = none. */
function serve(weights: number[], credits: number[], counts: number[]): number {
  const cls = nextClass(weights, credits, counts);
  if (cls === 0) return 0;
  noteClassServed(weights, credits, counts, cls);
  counts[cls - 1]--;
  return cls;
}

describe("a drain in JavaScript", () => {
  it.each(vectors.steps)("goes $name", ({ max_extra, looks, over }) => {
    const drain = newDrain(0);
    let is_over = false;
    for (const [now_ms, waiting, latency_ms, error_rate, extra] of looks) {
      is_over = stepDrain(drain, { waiting, latency_ms: latency_ms ?? undefined, error_rate }, max_extra, 5000, now_ms);
      expect(drain.extra).toBe(extra);
    }
    expect(is_over).toBe(over);
  });

  it.each(vectors.turns)("takes the classes by weight: $weights of $counts", ({ weights, counts, turns }) => {
    const credits = [0, 0, 0, 0, 0];
    const left = [...counts];
    expect(turns.map(() => serve(weights, credits, left))).toEqual(turns);
  });

  it("gives each class that waits its share of any run of places, to within one place a class", () => {
    const weights = fc.array(fc.integer({ min: 1, max: 50 }), { minLength: 5, maxLength: 5 });
    const waits = fc.array(fc.boolean(), { minLength: 5, maxLength: 5 });
    fc.assert(
      fc.property(weights, waits, fc.integer({ min: 1, max: 300 }), (given, there, places) => {
        const credits = [0, 0, 0, 0, 0];
        const counts = there.map((here) => (here ? 1e6 : 0));
        const served = [0, 0, 0, 0, 0];
        for (let k = 0; k < places; k++) {
          const cls = serve(given, credits, counts);
          if (cls > 0) served[cls - 1]++;
        }
        const total = given.reduce((sum, weight, k) => sum + (there[k] ? weight : 0), 0);
        for (let k = 0; k < 5; k++) {
          const share = there[k] ? (places * given[k]) / total : 0;
          expect(Math.abs(served[k] - share)).toBeLessThan(5);
        }
      }),
    );
  });
});
