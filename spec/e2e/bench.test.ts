import { describe, expect, test } from "vitest";
import { choose } from "../../ts-src/node/bench/choice";
import { type Contender, missing, PEERS } from "../../ts-src/node/bench/contenders";
import { describeMachine } from "../../ts-src/node/bench/machine";
import { htmlPage } from "../../ts-src/node/bench/page";
import { estimateSeconds, runScenario } from "../../ts-src/node/bench/run";
import { estimateAll, runAll } from "../../ts-src/node/bench/run_all";
import { resultText } from "../../ts-src/node/bench/table";
import pc from "picocolors";

describe("benchmark", () => {
  test("measures ours and nginx's on the same nodes, and reports it", async () => {
    const { scenarios } = choose({ scenario: "fast_errors", strategy: "adaptive" });
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
    const page = await htmlPage(describeMachine(), { results: [result], problems: [] });
    expect(page).toContain('id="charts-fast_errors"');
    expect(page).toContain("ax adaptive");
  });

  test("starts every contender from its own file", async () => {
    const { scenarios } = choose({ scenario: "nodes_10", strategy: "all" });
    const contenders = [...PEERS.filter((peer) => missing(peer) === undefined), ...scenarios[0].contenders].filter(
      (contender, k, all) => all.findIndex(({ name, by }) => name === contender.name && by === contender.by) === k,
    );
    const result = await runScenario({ ...scenarios[0], contenders, connections: 2 }, { repeats: 1, seconds: 1 });
    for (const row of result.rows) {
      expect(row.closed?.rps, row.contender).toBeGreaterThan(0);
      expect(row.closed?.error_share, row.contender).toBe(0);
    }
  }, 300_000);

  test("goes on without contenders that do not start, and says why", async () => {
    const { scenarios } = choose({ scenario: "nodes_10", strategy: "adaptive", peer: "round robin" });
    const broken: Contender[] = [
      { name: "without a file", by: "nginx", config: "no_such_file" },
      { name: "refused", by: "haproxy", config: "no_such_policy" },
    ];
    const contenders = [...broken, ...scenarios[0].contenders];
    const result = await runScenario({ ...scenarios[0], contenders, connections: 2 }, { repeats: 1, seconds: 1 });

    expect(result.failures.map(({ contender }) => contender)).toEqual(["nginx without a file", "haproxy refused"]);
    expect(result.failures[0].reason).toContain("no_such_file.conf");
    expect(result.failures[1].reason).toMatch(/balance only supports|cannot start haproxy/);
    expect(result.rows.map(({ contender }) => contender)).toEqual(["nginx round robin", "ax adaptive"]);
    expect(result.rows[0].rps_ratio).toBe(1);
    expect(resultText(result, pc.createColors(false))).toMatch(/FAILED: haproxy refused: /);
  }, 60_000);

  test("loads with two classes more than the nodes can take", async () => {
    const { scenarios } = choose({ scenario: "overload" });
    const contenders = scenarios[0].contenders.filter((contender) => missing(contender) === undefined);
    const result = await runScenario({ ...scenarios[0], contenders }, { repeats: 1, seconds: 1 });

    expect(result.failures).toEqual([]);
    for (const { overload, contender } of result.rows) {
      const { vip, batch } = overload!.classes;
      // 5 s at twice 200 requests a second, every fifth of the first class: none is lost.
      expect(vip.served + vip.refused + vip.other, contender).toBe(400);
      expect(batch.served + batch.refused + batch.other, contender).toBe(1600);
      expect(overload!.max_active, contender).toBeLessThanOrEqual(5);
      expect(batch.refused, contender).toBeGreaterThan(0);
    }
    expect(result.rows.at(-1)!.overload!.classes["vip"].refused).toBe(0);
    expect(resultText(result, pc.createColors(false))).toContain("goodput");
  }, 120_000);

  test("says that results were written only when they were", async () => {
    const { scenarios } = choose({ scenario: "nodes_10,nodes_100", strategy: "adaptive", peer: "round robin" });
    const short = scenarios.map((scenario) => ({ ...scenario, contenders: [PEERS[0]], connections: 2 }));
    const chosen = { scenarios: short, with_picks: false, repeats: 1, seconds: 1 };
    let full = [true, false];
    const write = (): Promise<void> =>
      full.shift() === true ? Promise.reject(new Error("cannot write results.json: disk full")) : Promise.resolve();
    // What could not be written after the first part is written with the second.
    expect(await runAll(chosen, write)).toMatchObject({ written: true, problems: [] });
    full = [false, true];
    const outcome = await runAll(chosen, write);
    expect(outcome).toMatchObject({ written: false, problems: ["cannot write results.json: disk full"] });
    expect(outcome.results.map(({ scenario }) => scenario)).toEqual(["nodes_10", "nodes_100"]);
  }, 60_000);

  test("says what there is when asked for what there is not", () => {
    expect(() => choose({ scenario: "slow_nod" })).toThrow(
      /no scenario "slow_nod"; allowed are: pick, overhead, overhead_two_workers, slow_node, /,
    );
    expect(() => choose({ scenario: "pick", strategy: "adaptiv" })).toThrow(
      /no strategy "adaptiv"; allowed are: adaptive, /,
    );
  });

  test("takes a quarter of an hour, and a minute or two for the picks, unless told more", () => {
    const { scenarios } = choose({});
    expect(estimateSeconds(scenarios, { repeats: 3, seconds: 3 })).toBeLessThan(15 * 60);
    expect(estimateAll({ ...choose({}), repeats: 3, seconds: 3 })).toBeLessThan(17 * 60);
  });
});
