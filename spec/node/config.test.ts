import { readFileSync } from "node:fs";
import { isIPv4, isIPv6 } from "node:net";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { renderReference, strategyOptions } from "../../scripts/config-reference";
import { formatAddress, parseAddress } from "../../ts-src/resty/ax/core/config/address";
import { formatIpv6, parseIpv4, parseIpv6 } from "../../ts-src/resty/ax/core/config/ip";
import { nodeFields } from "../../ts-src/resty/ax/core/config/nodes";
import { configFields } from "../../ts-src/resty/ax/core/config/options";
import { newProblems, type Problems, renderProblems } from "../../ts-src/resty/ax/core/config/problems";
import type { FieldSchema } from "../../ts-src/resty/ax/core/config/schema";
import { distance, suggest } from "../../ts-src/resty/ax/core/config/suggest";
import { type StrategyOptions, upstreamFields } from "../../ts-src/resty/ax/core/config/upstream_options";
import { validate } from "../../ts-src/resty/ax/core/config/validate";

interface Vectors {
  strategies: StrategyOptions;
  cases: { name: string; input: unknown; total: number; problems: string[]; config?: unknown }[];
}

interface Texts {
  addresses: { text: string; host: string; port: number; id: string }[];
  bad_addresses: string[];
  suggestions: { word: string; known: string[]; nearest: string | null }[];
  distances: { a: string; b: string; edits: number }[];
}

function readVectors<T>(name: string): T {
  return JSON.parse(readFileSync(new URL(`../vectors/${name}.json`, import.meta.url), "utf8")) as T;
}

const vectors = readVectors<Vectors>("config");
const texts = readVectors<Texts>("config_texts");

function check(
  input: unknown,
  strategies = vectors.strategies,
): { record: Record<string, unknown>; problems: Problems } {
  const problems = newProblems();
  return { record: validate(input, configFields(strategies), "", problems), problems };
}

describe("configuration vectors", () => {
  for (const vector of vectors.cases) {
    it(vector.name, () => {
      const { record, problems } = check(vector.input);
      expect(problems.list.map((problem) => `${problem.path}: ${problem.text}`)).toEqual(vector.problems);
      expect(problems.total).toBe(vector.total);
      if (vector.config !== undefined) expect(record).toEqual(vector.config);
    });
  }
});

describe("problems as text", () => {
  it("counts all, lists fifty, and says how many more there are", () => {
    const keys = Array.from({ length: 60 }, (_, i) => [`unknown${i}`, 1]);
    const { problems } = check({ upstreams: { a: {} }, ...(Object.fromEntries(keys) as object) });
    const lines = renderProblems(problems, "init").split("\n");
    expect(lines[0]).toBe("lua-resty-ax: 60 problems in the configuration (init):");
    expect(lines[50]).toMatch(/^ {2}50\. unknown/);
    expect(lines.slice(51)).toEqual(["  ... and 10 more"]);
  });

  it("stops at the length asked for", () => {
    const { problems } = check({ upstreams: { a: { x: 1, y: 1, z: 1 } } });
    const text = renderProblems(problems, "init", 140);
    expect(text.length).toBeLessThan(160);
    expect(text).toMatch(/1\. upstreams\.a\.x: .*\n {2}\.\.\. and 2 more$/);
  });
});

describe("nearest known words", () => {
  for (const { word, known, nearest } of texts.suggestions) {
    it(`"${word}" among ${known.join(", ") || "none"}`, () => expect(suggest(word, known) ?? null).toBe(nearest));
  }

  for (const { a, b, edits } of texts.distances) {
    it(`counts ${edits} edits between "${a}" and "${b}"`, () => expect(distance(a, b)).toBe(edits));
  }

  it("has a symmetric distance that is zero for equal words", () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (a, b) => {
        expect(distance(a, b)).toBe(distance(b, a));
        expect(distance(a, a)).toBe(0);
      }),
      { seed: 1 },
    );
  });
});

describe("addresses", () => {
  for (const { text, host, port, id } of texts.addresses) {
    it(`takes ${text}`, () => {
      const { address } = parseAddress(text);
      expect(address).toEqual({ host, port });
      expect(formatAddress({ host, port })).toBe(id);
    });
  }

  for (const text of texts.bad_addresses) {
    it(`refuses ${JSON.stringify(text)}`, () => {
      const { address, problem } = parseAddress(text);
      expect(address).toBeUndefined();
      expect(problem).toMatch(/\w/);
    });
  }

  it("agrees with Node.js on what is IPv4 and IPv6", () => {
    const piece = fc.oneof(
      fc.constantFrom(":", "::", ".", "0", "1", "00", "255", "256", "ffff", "g", "10.0.0.1"),
      fc.stringMatching(/^[0-9a-fA-F]{1,5}$/),
    );
    const junk = fc.array(piece, { maxLength: 17 }).map((pieces) => pieces.join(""));
    fc.assert(
      fc.property(fc.oneof(junk, fc.ipV4(), fc.ipV6()), (text) => {
        expect(parseIpv4(text) !== undefined).toBe(isIPv4(text));
        expect(parseIpv6(text) !== undefined).toBe(isIPv6(text));
      }),
      { seed: 2, numRuns: 3000 },
    );
  });

  it("writes IPv6 as URLs do, but for IPv4-mapped addresses", () => {
    const group = fc.oneof(fc.constant(0), fc.nat(0xffff));
    fc.assert(
      fc.property(fc.array(group, { minLength: 8, maxLength: 8 }), (groups) => {
        const text = formatIpv6(groups);
        expect(parseIpv6(text)).toEqual(groups);
        const mapped = text.includes(".");
        if (!mapped)
          expect(`[${text}]`).toBe(new URL(`http://[${groups.map((g) => g.toString(16)).join(":")}]/`).hostname);
      }),
      { seed: 3, numRuns: 2000 },
    );
  });
});

describe("the schema", () => {
  const own: [string, FieldSchema][] = [
    ...Object.entries(configFields(vectors.strategies)),
    ...Object.entries(upstreamFields(vectors.strategies)),
    ...Object.entries(nodeFields),
  ];
  const all = [...own, ...Object.values(strategyOptions()).flatMap((fields) => Object.entries(fields))];
  /** Shares, ratios, counts and weights. */
  const without_unit =
    /^(max_\w+|min_samples|global_qps_limit|global_qps_burst|retry_ratio|retry_min_per_s|score_\w+|weight\w*|cost|ramp_from|slow_start_share|panic_threshold|error_penalty_from|eject_error_rate)$/;

  it("puts a unit into the name of every number that has one", () => {
    for (const [key, field] of own) {
      if (field.kind === "number" && !/_m?s$/.test(key)) expect(key).toMatch(without_unit);
    }
  });

  it("documents every option, and gives the reason of every default of its own", () => {
    for (const [key, field] of all) expect(field.doc, key).toMatch(/[.:)]$/);
    for (const [key, field] of own) {
      if ("default" in field) expect(field.reason, key).toBeTruthy();
    }
  });

  it("has defaults that are valid", () => {
    const { problems } = check({ upstreams: { a: {} } }, strategyOptions());
    expect(problems.list).toEqual([]);
    for (const [key, field] of all) {
      if (field.kind !== "number" || field.default === undefined) continue;
      if (field.or_zero === true && field.default === 0) continue;
      expect(field.default, key).toBeGreaterThanOrEqual(field.min);
      expect(field.default, key).toBeLessThanOrEqual(field.max);
    }
  });

  it("has every option on the reference page", () => {
    const page = readFileSync(new URL("../../docs/configuration.md", import.meta.url), "utf8");
    for (const [key] of all) expect(page).toContain(`| \`${key}\` |`);
    expect(renderReference()).toContain("Generated by `npx tsx scripts/config-reference.ts`");
  });
});

describe("any input", () => {
  const known = [
    ...Object.keys(upstreamFields(vectors.strategies)),
    ...Object.keys(nodeFields),
    "upstreams",
    "backend",
  ];
  const { junk } = fc.letrec<{ junk: unknown }>((tie) => ({
    junk: fc.oneof(
      { maxDepth: 5 },
      fc.oneof(fc.double(), fc.integer({ min: -2, max: 70 }), fc.string(), fc.boolean(), fc.constant(null)),
      fc.constantFrom("10.0.0.1:80", "adaptive", undefined, Infinity),
      fc.array(tie("junk"), { maxLength: 4 }),
      fc.dictionary(fc.oneof(fc.constantFrom(...known), fc.string()), tie("junk"), { maxKeys: 6 }),
    ),
  }));

  it("gives either a configuration or problems with a path, and never throws", () => {
    const input = fc.oneof(
      junk,
      fc.record({ upstreams: fc.dictionary(fc.constantFrom("a", "b"), junk) }),
      fc.record({ upstreams: fc.record({ a: fc.record({ nodes: fc.array(junk) }) }) }),
    );
    fc.assert(
      fc.property(input, (value) => {
        const { record, problems } = check(value);
        expect(problems.list.length).toBe(Math.min(problems.total, 50));
        for (const { path, text } of problems.list) expect(path !== "" && text !== "").toBe(true);
        if (problems.total === 0) expect(Object.keys(record["upstreams"] as object).length).toBeGreaterThan(0);
      }),
      { seed: 4, numRuns: 2000 },
    );
  });

  it("does not write to what it was given", () => {
    const input = { upstreams: { a: { nodes: [{ address: "10.0.0.1:80" }], strategy_options: { sample: 3 } } } };
    const before = structuredClone(input);
    check(input);
    expect(input).toEqual(before);
  });
});
