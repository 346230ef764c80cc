// The same vectors as spec/unit/goal_spec.lua: scores must be the same in Lua and in JavaScript.
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import type { Pool } from "../../ts-src/resty/ax/core/pool";
import { measureSignals, newScorer, scoreNodes } from "../../ts-src/resty/ax/core/scoring";

interface Case {
  name: string;
  normaliser: string;
  latency_ms: number[];
  scores: number[];
}

const { cases } = JSON.parse(readFileSync(new URL("../vectors/scoring.json", import.meta.url), "utf8")) as {
  cases: Case[];
};

describe("scores in JavaScript", () => {
  it.each(cases)("$name", (given) => {
    const pool = {
      latency_ms: given.latency_ms,
      samples: given.latency_ms.map((ms) => (ms < 0 ? 0 : 1)),
    } as unknown as Pool;
    const scores: number[] = [];
    const nodes = given.latency_ms.map((_, node) => node);
    const scorer = newScorer([{ name: "latency", weight: 2, normaliser: given.normaliser }]);
    measureSignals(scorer, pool, nodes, nodes.length);
    scoreNodes(scorer, pool, nodes, 0, nodes.length, scores);
    expect(scores).toHaveLength(given.scores.length);
    scores.forEach((score, k) => {
      expect(score).toBeCloseTo(given.scores[k], 9);
    });
  });
});
