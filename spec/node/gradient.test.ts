// The adaptive limit in JavaScript: the same vectors as spec/unit/gradient_spec.lua, and a node to find the limit of.
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import {
  type GradientOptions,
  limitInForce,
  newGradient,
  observe,
  Phase,
  step,
} from "../../ts-src/resty/ax/core/gradient";
import { bucketOf } from "../../ts-src/resty/ax/core/histogram";
import { type Look, type Node, runNode } from "./gradient_model";

interface Case {
  options: GradientOptions;
  looks: { now_ms: number; ok: number; ms: number; failed: number; in_flight: number }[];
  results: { limit: number; operating: number }[];
}

const cases = JSON.parse(readFileSync(new URL("../vectors/gradient.json", import.meta.url), "utf8")) as Case[];

const OPTIONS: GradientOptions = { min: 5, max: 500, probe: 3, probe_interval_ms: 60_000, tolerance: 1.25 };

const NODE: Node = { slots: () => 40, service_ms: () => 40, rho: 1.5, spread: "exp", seed: 1 };

/** Limits in operation between two times, ascending. */
function limitsOf(looks: Look[], from_s: number, to_s = Infinity): number[] {
  const steady = looks.filter(({ now_ms, phase }) => now_ms > from_s * 1000 && phase === Phase.Steady);
  const limits = steady.filter(({ now_ms }) => now_ms <= to_s * 1000).map(({ limit }) => limit);
  return limits.sort((a, b) => a - b);
}

function run(node: Partial<Node>, duration_s: number): ReturnType<typeof runNode> {
  return runNode({ ...NODE, ...node }, OPTIONS, duration_s * 1000);
}

function median(sorted: number[]): number {
  return sorted[Math.floor(sorted.length / 2)];
}

describe("the adaptive limit in JavaScript", () => {
  it.each(cases)("moves as the vectors say (%#)", ({ options, looks, results }) => {
    const gradient = newGradient(options, 0);
    looks.forEach((look, k) => {
      observe(gradient, look.ok, look.ok > 0 ? [bucketOf(look.ms), look.ok] : [], look.ok * look.ms, look.failed);
      step(gradient, options, look.in_flight, true, look.now_ms);
      expect(limitInForce(gradient, options)).toBe(results[k].limit);
      expect(gradient.limit).toBeCloseTo(results[k].operating, 5);
    });
  });
});

describe("the adaptive limit of a node under overload", () => {
  const spreads = ["fixed", "exp", "lognormal", "bimodal"] as const;
  const grid = spreads.flatMap((spread) => [4, 12, 48].map((slots) => ({ spread, slots })));

  it.each(grid)("is about the $slots requests that it works on at a time: $spread", ({ spread, slots }) => {
    for (const seed of [1, 2]) {
      const { looks, served, capacity } = run({ spread, slots: () => slots, seed }, 100);
      const limits = limitsOf(looks, 15);
      expect(median(limits)).toBeGreaterThanOrEqual(slots);
      expect(median(limits)).toBeLessThanOrEqual(1.75 * slots);
      expect(limits[Math.floor(limits.length / 20)]).toBeGreaterThanOrEqual(0.8 * slots);
      // Measuring takes its share.
      expect(served / capacity).toBeGreaterThan(0.94);
    }
  });

  it.each([1, 2, 3])("follows the node when it loses slots, and gets them back (seed %i)", (seed) => {
    const slots = (now_ms: number): number => (now_ms > 20_000 && now_ms < 50_000 ? 10 : 40);
    const { looks } = run({ slots, seed }, 90);
    expect(median(limitsOf(looks, 35, 50))).toBeLessThanOrEqual(20);
    expect(median(limitsOf(looks, 65))).toBeGreaterThanOrEqual(40);
    expect(median(limitsOf(looks, 65))).toBeLessThanOrEqual(70);
  });

  it.each([1, 2, 3])("does not stay at its least when requests have become dearer for good (seed %i)", (seed) => {
    const service_ms = (now_ms: number): number => (now_ms > 20_000 ? 120 : 40);
    const { looks } = run({ service_ms, seed }, 90);
    expect(median(limitsOf(looks, 55))).toBeGreaterThanOrEqual(32);
    expect(median(limitsOf(looks, 55))).toBeLessThanOrEqual(80);
  });

  it.each([0.3, 0.8])("holds nobody up while the load is %f of what the node can do, but to measure", (rho) => {
    for (const seed of [1, 2]) {
      const { looks } = run({ rho, seed }, 100);
      const held_up = looks.filter(({ waiting }) => waiting > 0);
      const measured = looks.filter(({ phase }) => phase !== Phase.Steady);
      // Who waited meanwhile is let in within a look or two.
      expect(held_up.length).toBeLessThanOrEqual(2 * measured.length);
      expect(measured.length).toBeLessThanOrEqual(12);
    }
  });
});
