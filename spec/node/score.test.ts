import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { coolDownMs } from "../../ts-src/resty/ax/core/health/cool_down";
import {
  connRatio,
  errorRatio,
  p99Ratio,
  referenceP99,
  stepScore,
  targetScore,
} from "../../ts-src/resty/ax/core/score";

interface Vectors {
  limits: { score_min: number; score_max: number; error_penalty_from: number; eject_error_rate: number };
  scores: {
    name: string;
    p99_ms?: number;
    reference_ms?: number;
    confidence?: number;
    error_rate: number;
    in_flight: number;
    capacity: number;
    score: number;
  }[];
  steps: { score: number; target: number; since_ms: number; step: number; interval_ms: number; result: number }[];
  references: { p99s_ms: number[]; reference_ms?: number }[];
}

interface CoolDown {
  base_s: number;
  ejections: number;
  max_s: number;
  id: string;
  ms: number;
}

function readVectors<T>(name: string): T {
  return JSON.parse(readFileSync(new URL(`../vectors/${name}.json`, import.meta.url), "utf8")) as T;
}

const vectors = readVectors<Vectors>("score");

describe("score in JavaScript", () => {
  it.each(vectors.scores)("golden vector: $name", (given) => {
    const limits = vectors.limits;
    const score = targetScore(
      p99Ratio(given.p99_ms, given.reference_ms, given.confidence ?? 1),
      errorRatio(given.error_rate, limits.error_penalty_from, limits.eject_error_rate),
      connRatio(given.in_flight, given.capacity),
      limits,
    );
    expect(score).toBeCloseTo(given.score, 9);
  });

  it.each(vectors.steps)("steps from $score towards $target after $since_ms ms to $result", (given) => {
    const { score, target, since_ms, step, interval_ms } = given;
    expect(stepScore(score, target, since_ms, step, interval_ms)).toBeCloseTo(given.result, 9);
  });

  it.each(vectors.references)("compares with the typical node of $p99s_ms", ({ p99s_ms, reference_ms }) => {
    expect(referenceP99([...p99s_ms])).toBe(reference_ms);
  });
});

describe("cool-down in JavaScript", () => {
  it.each(readVectors<CoolDown[]>("cool_down"))("$base_s s, ejection $ejections of $id: $ms ms", (given) => {
    expect(coolDownMs(given.base_s, given.ejections, given.max_s, given.id)).toBe(given.ms);
  });
});
