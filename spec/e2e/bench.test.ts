import { describe, expect, test } from "vitest";
import { choose } from "../../ts-src/node/bench/choice";
import { missing, PEERS } from "../../ts-src/node/bench/contenders";
import { describeMachine } from "../../ts-src/node/bench/machine";
import { htmlPage } from "../../ts-src/node/bench/page";
import { estimateSeconds, runScenario } from "../../ts-src/node/bench/run";
import { resultText } from "../../ts-src/node/bench/table";
import pc from "picocolors";

describe("benchmark", () => {
  test("measures ours and nginx's on the same nodes, and reports it", async () => {
    const { scenarios } = choose("fast_errors", "adaptive");
    const [peer] = PEERS;
    const contenders = [peer, ...scenarios[0].contenders.filter(({ by }) => by === "ax")];
    const result = await runScenario(
      { ...scenarios[0], contenders, connections: 4, rate: 50 },
      { repeats: 1, seconds: 1 },
    );

    expect(result.rows.map(({ contender }) => contender)).toEqual(["nginx round robin", "ax adaptive"]);
    for (const row of result.rows) {
      expect(row.closed?.rps).toBeGreaterThan(0);
      expect(row.open?.p99_ms).toBeGreaterThan(0);
      expect(row.shares).toHaveLength(6);
      expect(row.shares.reduce((sum, share) => sum + share, 0)).toBeCloseTo(1, 6);
      expect(row.shares_over_time.length).toBeGreaterThan(0);
    }
    // Round robin gives the failing node a sixth of the requests, and 30 % of those fail.
    expect(result.rows[0].closed?.error_share).toBeGreaterThan(0);
    expect(result.rows[0].rps_ratio).toBe(1);

    const text = resultText(result, pc.createColors(false));
    expect(text).toContain("ax adaptive");
    const page = await htmlPage(describeMachine(), [result]);
    expect(page).toContain('<div id="charts-fast_errors">');
    expect(page).toContain("ax adaptive");
  });

  test("starts every contender from its own file", async () => {
    const { scenarios } = choose("nodes_10", "all");
    const contenders = [...PEERS.filter((peer) => missing(peer) === undefined), ...scenarios[0].contenders].filter(
      (contender, k, all) => all.findIndex(({ name, by }) => name === contender.name && by === contender.by) === k,
    );
    const result = await runScenario({ ...scenarios[0], contenders, connections: 2 }, { repeats: 1, seconds: 1 });
    for (const row of result.rows) {
      expect(row.closed?.rps, row.contender).toBeGreaterThan(0);
      expect(row.closed?.error_share, row.contender).toBe(0);
    }
  }, 300_000);

  test("says what there is when asked for what there is not", () => {
    expect(() => choose("slow_nod", undefined)).toThrow(
      /no scenario "slow_nod"; allowed are: pick, overhead, slow_node/,
    );
    expect(() => choose("pick", "adaptiv")).toThrow(/no strategy "adaptiv"; allowed are: adaptive, /);
  });

  test("takes no more than a quarter of an hour unless told to", () => {
    expect(estimateSeconds(choose(undefined, undefined).scenarios, { repeats: 3, seconds: 3 })).toBeLessThan(15 * 60);
  });
});
