// The same vectors as spec/unit/core_vectors_spec.lua: core/ must give the same in Lua and in JavaScript.
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { cost, inverseOf, weigh } from "../../ts-src/resty/ax/core/cost";
import type { Pool } from "../../ts-src/resty/ax/core/pool";
import { draw } from "../../ts-src/resty/ax/core/random";
import { matchTries, splitTries } from "../../ts-src/resty/ax/core/tries";
import { buildAliasTable, newAliasTable } from "../../ts-src/resty/ax/core/weighted";

interface CostCase {
  name: string;
  in_flight: number;
  others: number;
  latency_ms: number;
  success: number;
  weight: number;
  oldest_age_ms: number;
  /** 0 = never. */
  last_answer_age_ms: number;
  cost: number;
}

interface Vectors {
  minstd: { seed_state: number; draws: number; state: number };
  cost: CostCase[];
  tries: { text: string; values: string[] }[];
  matches: { name: string; ours: string[]; nginx: string[]; matched: number[] }[];
  alias: { weights: number[]; shares: number[] }[];
}

const vectors = JSON.parse(readFileSync(new URL("../vectors/core.json", import.meta.url), "utf8")) as Vectors;

function poolOf(given: CostCase, now_ms: number): Pool {
  return {
    in_flight: [given.in_flight],
    others_in_flight: [given.others],
    latency_ms: [given.latency_ms],
    success: [given.success],
    long_in_flight: [0],
    inverse_prior: [inverseOf(given.weight)],
    last_sample_ms: [given.last_answer_age_ms > 0 ? now_ms - given.last_answer_age_ms : 0],
    oldest_start_ms: [given.oldest_age_ms > 0 ? now_ms - given.oldest_age_ms : 0],
    resting_cost: [],
    silent_since_ms: [],
    silence_per_ms: [],
    load_rank: [],
    highest_prior: 1,
  } as unknown as Pool;
}

describe("core in JavaScript", () => {
  it("draws the minimal standard generator's numbers (its published check value)", () => {
    const source = { state: vectors.minstd.seed_state };
    for (let k = 0; k < vectors.minstd.draws; k++) draw(source);
    expect(source.state).toBe(vectors.minstd.state);
  });

  it.each(vectors.cost)("cost: $name", (given) => {
    const pool = poolOf(given, 100_000);
    weigh(pool, 0);
    const found = cost(pool, 0, 100_000);
    expect(Math.abs(found - given.cost)).toBeLessThanOrEqual(given.cost * 1e-9);
  });

  it.each(vectors.tries)("splits $text", ({ text, values }) => {
    expect(splitTries(text)).toEqual(values);
  });

  it.each(vectors.matches)("matches: $name", ({ ours, nginx, matched }) => {
    expect(matchTries(ours, nginx)).toEqual(matched);
  });

  it.each(vectors.alias)("alias table of $weights", ({ weights, shares }) => {
    const table = newAliasTable();
    buildAliasTable(table, weights, weights.length);
    const found = weights.map(() => 0);
    for (let k = 0; k < weights.length; k++) {
      const kept = Math.min(1, table.threshold[k]);
      found[k] += kept / weights.length;
      found[table.alias[k]] += (1 - kept) / weights.length;
    }
    found.forEach((share, k) => {
      expect(Math.abs(share - shares[k])).toBeLessThan(1e-9);
    });
  });
});
