import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import pc from "picocolors";
import { afterAll, describe, expect, it } from "vitest";
import type { Result } from "../../ts-src/sim/job";
import { machineOf, measureSimulator, medians, scenarioText } from "../../ts-src/node/sim/agreement";
import { htmlReport } from "../../ts-src/node/sim/report";
import { jobOf, loadScenario, parseScenario, ScenarioError, scenarioNames } from "../../ts-src/node/sim/scenario";
import { spread, summarise } from "../../ts-src/node/sim/summary";
import { summaryTable } from "../../ts-src/node/sim/table";

const REPO = resolve(import.meta.dirname, "../..");
const dir = mkdtempSync(join(tmpdir(), "ax-simulate-"));
afterAll(() => rmSync(dir, { recursive: true }));

const MINIMAL = "description: x\nload: { rho: 0.5 }\nnodes: [{ count: 2 }]\n";
const player = { strategy: "adaptive", strategy_options: {} };

function result(strategy: string, seed: number, p99_ms: number): Result {
  const series = {
    step_ms: 1000,
    p50_ms: [1, 2],
    p99_ms: [3, 4],
    errors: [0, 0],
    requests: [5, 5],
    tries: [[5, 5]],
    weights: [[1, 1]],
  };
  const figures = {
    p50_ms: 1,
    p99_ms,
    p999_ms: 2 * p99_ms,
    mean_ms: 1,
    mean_wait_ms: 0,
    error_share: 0,
    refused_share: 0,
  };
  const rates = { rate_per_s: 80, capacity_per_s: 100, goodput_per_s: 80, tries_per_request: 1, peak_to_mean: 1 };
  return {
    name: "x",
    seed,
    strategy,
    begun: 1,
    ended: 1,
    requests: 1,
    ...figures,
    refused: [],
    ...rates,
    hit_share: -1,
    hot_key_nodes: -1,
    classes: [],
    shares: [1],
    faults: [],
    series,
  };
}

function summary() {
  const scenario = parseScenario("x", `${MINIMAL}targets: [{ figure: p99_distance, at_most: 0.15 }]`);
  const players = [
    { name: "adaptive", is_bound: false, load_factor: 1 },
    { name: "shared_queue", is_bound: true, load_factor: 1 },
  ];
  const runs = [11, 26, 30].map((p99_ms, k) => result("adaptive", k, p99_ms));
  const bounds = [10, 20, 30].map((p99_ms, k) => result("shared_queue", k, p99_ms));
  return summarise(scenario, players, [...runs, ...bounds]);
}

describe("a scenario file", () => {
  it("of the library is valid, and listed in the documentation", () => {
    const text = readFileSync(join(REPO, "docs/simulator.md"), "utf8");
    for (const name of scenarioNames()) {
      expect(jobOf(loadScenario(name), player, 1).nodes.length).toBeGreaterThan(0);
      expect(text).toContain(`\`${name}\``);
    }
  });

  it("shifts the events of a group's nodes by the stagger", () => {
    const group = "{ count: 3, stagger_s: 2, events: [{ from_s: 1, speed: 0 }] }";
    const job = jobOf(parseScenario("x", MINIMAL.replace("{ count: 2 }", group)), player, 1);
    expect(job.nodes.map((node) => node.events[0].from_s)).toEqual([1, 3, 5]);
    expect(job.nodes.map((node) => node.id)).toEqual(["n1", "n2", "n3"]);
  });

  it("is refused with the key that is wrong", () => {
    const bad = (text: string): string => {
      try {
        parseScenario("mine", text);
      } catch (error) {
        expect(error).toBeInstanceOf(ScenarioError);
        return (error as Error).message;
      }
      throw new Error("accepted");
    };
    expect(bad(MINIMAL.replace("rho", "rh"))).toMatch(
      /mine:\n {2}load\.rh: unknown key "rh"; allowed are rho, .*; did you mean "rho"\?/,
    );
    expect(bad(MINIMAL.replace("0.5", "0.5, rate_per_s: 5"))).toMatch(
      /load: is .*; give one of rho, rate_per_s, clients/,
    );
    expect(bad(MINIMAL.replace("0.5", "fast"))).toMatch(/load\.rho: is "fast"; .*expected number/);
    expect(bad(MINIMAL.replace("count: 2", "slots: 0"))).toMatch(/nodes\[0\]\.slots: is 0; .*>=1/);
    expect(bad(MINIMAL.replace("count: 2", "speeds: 2"))).toMatch(/nodes\[0\]\.speeds: .*did you mean "speed"\?/);
    expect(bad(`${MINIMAL}service: { distribution: lognorm }`)).toMatch(
      /service\.distribution: is "lognorm"; allowed are fixed, .*pareto; did you mean "lognormal"\?/,
    );
    expect(bad(`${MINIMAL}classes: [{ name: vip, share: 0.5 }]`)).toMatch(/classes: .*the shares must add up to 1/);
    expect(bad(`${MINIMAL}targets: [{ figure: p99_ms }]`)).toMatch(/targets\[0\]: .*give at_most or at_least/);
    const of_class = (name: string, figure: string): string =>
      `${MINIMAL}classes: [{ name: vip, share: 1 }]\ntargets: [{ figure: ${figure}, class: ${name}, at_most: 1 }]`;
    expect(bad(of_class("vipp", "p99_ms"))).toMatch(/targets\[0\]\.class: is "vipp"; the classes are vip/);
    expect(bad(of_class("vip", "goodput_share"))).toMatch(/targets\[0\]: .*of a class there are only p50_ms, /);
    expect(parseScenario("mine", of_class("vip", "p99_ms")).targets[0].class).toBe("vip");
    expect(bad(`${MINIMAL}compare: [{ strategy: adaptive, load_factor: 0 }]`)).toMatch(
      /compare\[0\]\.load_factor: is 0; /,
    );
    expect(bad(`${MINIMAL}durations_s: 3`)).toMatch(/did you mean "duration_s"/);
    expect(bad("nodes: [{}]")).toMatch(/description: is nothing; [^]*load: is nothing/);
    expect(bad("")).toMatch(/mine:\n {2}the file: is null/);
    expect(bad(MINIMAL.replace("{ count: 2 }", "{ joins_at_s: 5 }, { count: 1 }"))).toMatch(/order of joins_at_s/);
    expect(bad("a: [1,\nb: }")).toMatch(/^mine: neither YAML nor JSON: .* at line \d+, column \d+$/);
    expect(bad(`${MINIMAL}compare: [{ strategy: adaptve }]`)).toMatch(
      /compare\[0\]\.strategy: is "adaptve"; allowed are adaptive, .*; did you mean "adaptive"\?/,
    );
    expect(() => loadScenario("hommogeneous")).toThrow(
      /no scenario "hommogeneous"; there are .*; did you mean "homogeneous"\?/,
    );
    expect(() => loadScenario("./no.yaml")).toThrow(
      "cannot read the scenario file ./no.yaml: no such file or directory",
    );
    expect(() => loadScenario(dir)).toThrow(/^cannot read the scenario file .*: illegal operation on a directory$/);
  });
});

describe("a scenario's own comparison", () => {
  it("judges a target only for the lines it is meant for, and knows the first line's P99", () => {
    const text = `${MINIMAL}targets: [{ figure: p99_vs_first, at_most: 1.1, for: [b] }]`;
    const lines = ["a", "b", "shared_queue"].map((name) => ({
      name,
      is_bound: name === "shared_queue",
      load_factor: 1,
    }));
    const runs = [10, 12, 8].map((p99_ms) => result("adaptive", 1, p99_ms));
    const [a, b] = summarise(parseScenario("x", text), lines, runs).rows;
    expect(a.verdicts).toEqual([]);
    expect(b.p99_vs_first.median).toBeCloseTo(1.2);
    expect(b.verdicts[0].met).toBe(false);
  });

  it("judges a class by its own figures, and shows no distance from bounds with another load", () => {
    const classes = "classes: [{ name: vip, share: 1 }]\n";
    const text = `${MINIMAL}${classes}targets: [{ figure: p99_vs_first, class: vip, at_most: 1.1 }]`;
    const lines = ["calm", "busy", "shared_queue"].map((name) => {
      return { name, is_bound: name === "shared_queue", load_factor: name === "calm" ? 0.5 : 1 };
    });
    const runs = [10, 12, 80].map((p99_ms) => {
      const vip = { name: "vip", requests: 1, p50_ms: 1, p99_ms, error_share: 0, refused_share: 0.5 };
      return { ...result("adaptive", 1, 50), classes: [vip] };
    });
    const [calm, busy] = summarise(parseScenario("x", text), lines, runs).rows;
    expect(busy.verdicts[0].value).toBeCloseTo(1.2);
    expect(busy.verdicts[0].met).toBe(false);
    expect(calm.p99_distance.median).toBeNaN();
    const table = summaryTable(summarise(parseScenario("x", text), lines, runs), pc.createColors(false));
    expect(table).toMatch(/vip refused %/);
    expect(table).toMatch(/calm .* – .*50\.00/);
    expect(table).toContain("missed: vip p99_vs_first ≤ 1.1");
  });

  it("shows refusals by reason with the time they took; one that only some seeds have counts as 0 in the others", () => {
    const lines = [{ name: "shared_queue", is_bound: true, load_factor: 1 }];
    const refused = [{ reason: "queue_full", share: 0.3, p50_ms: 0, p99_ms: 2 }];
    const runs = [{ ...result("shared_queue", 1, 8), refused }, result("shared_queue", 2, 8)];
    const made = summarise(parseScenario("x", MINIMAL), lines, runs);
    expect(made.rows[0].refused[0].share).toEqual({ median: 0.15, min: 0, max: 0.3 });
    expect(summaryTable(made, pc.createColors(false))).toContain("queue_full 15.0 % (2.0)");
  });

  it("shows hits, hot keys and classes where there are any, else not", () => {
    const lines = [{ name: "shared_queue", is_bound: true, load_factor: 1 }];
    const classes = [{ name: "vip", requests: 1, p50_ms: 1.5, p99_ms: 9, error_share: 0, refused_share: 0 }];
    const text = (given: Partial<Result>): string =>
      summaryTable(
        summarise(parseScenario("x", MINIMAL), lines, [{ ...result("shared_queue", 1, 8), ...given }]),
        pc.createColors(false),
      );
    expect(text({})).not.toMatch(/hits|hot key|vip|refused/);
    expect(text({ hit_share: 0.5, hot_key_nodes: 3, classes })).toMatch(/hits %.*hot key nodes.*vip P50\/P99 ms/);
    expect(text({ hit_share: 0.5, classes })).toMatch(/50\.0.*1\.5 \/ 9\.0/);
  });
});

describe("the figures of several seeds", () => {
  it("are medians with the least and the most", () => {
    expect(spread([3, 1, 2])).toEqual({ median: 2, min: 1, max: 3 });
    expect(spread([4, 1, 2, 3]).median).toBe(2.5);
  });

  it("compare each seed with the shared queue of the same seed", () => {
    const [adaptive, bound] = summary().rows;
    expect(adaptive.p99_distance.median).toBeCloseTo(0.1);
    expect(adaptive.p99_distance.max).toBeCloseTo(0.3);
    expect(bound.p99_distance).toEqual({ median: 0, min: 0, max: 0 });
    expect(adaptive.verdicts[0].met).toBe(true);
    expect(bound.verdicts).toEqual([]);
  });
});

describe("the report", () => {
  it("is one file that loads nothing", async () => {
    const series = result("adaptive", 1, 10).series;
    const html = await htmlReport([summary()], {
      scenarios: [{ name: "x</script>", runs: [{ player: "adaptive", series }] }],
    });
    expect(html).not.toMatch(/(src|href)=/);
    expect(html).toContain("uplot");
    // Data must not end the script it is in.
    expect(html.match(/<\/script>/g)).toHaveLength(2);
  });
});

describe("simulate", () => {
  it("gives the same figures in every process", { timeout: 120_000 }, () => {
    const run = (): string =>
      execFileSync(
        join(REPO, "node_modules/.bin/tsx"),
        [
          join(REPO, "ts-src/node/sim/simulate.ts"),
          ...["--scenario", "workers", "--strategy", "adaptive", "--seeds", "1", "--duration", "2", "--json"],
          ...["--html", join(dir, "report.html")],
        ],
        { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"], env: { ...process.env, LUA_PATH: ";;" } },
      );
    const first = run();
    const [summary] = (JSON.parse(first) as { scenarios: { rows: { player: string; p99_ms: { median: number } }[] }[] })
      .scenarios;
    expect(summary.rows.map((row) => row.player)).toEqual(["adaptive", "shared_queue", "oracle", "random_split"]);
    expect(summary.rows[0].p99_ms.median).toBeGreaterThan(20);
    expect(run()).toBe(first);
  });
});

describe("the check against nginx", () => {
  const setup = { strategy: "round_robin", clients: 80, think_ms: 40, part_s: 1 };
  const machine = { overhead_ms: 0.5, think_ms: 40.5, overhead_p99_ms: 1 };

  it("finds what the machine adds from a probe with constant delays", () => {
    // 80 clients, 46 ms each: 5 at the node, 0.5 around it, 40.5 of pause.
    const probe = { rps: 80 / 0.046, mean_ms: 5.5, p50_ms: 5.5, p99_ms: 6 } as Parameters<typeof machineOf>[0];
    const found = machineOf(probe, 80);
    expect(found.overhead_ms).toBeCloseTo(0.5);
    expect(found.think_ms).toBeCloseTo(40.5);
    expect(found.overhead_p99_ms).toBeCloseTo(1);
  });

  it("simulates the same case: a valid scenario, the last node slow from the second part on", async () => {
    const { nodes } = jobOf(parseScenario("reference", scenarioText(setup, machine)), player, 1);
    expect(nodes.map((node) => node.events.length)).toEqual([0, 0, 0, 0, 0, 1]);
    expect(nodes[5].events[0]).toMatchObject({ from_s: 2, speed: 1 / 8 });
    const figures = await measureSimulator(setup, machine, 1);
    // Little's law: each client takes 40.5 ms + 0.5 ms + 2.2 ms; and a sixth of the requests take 17.4 ms at the node.
    expect(figures.healthy_rate_per_s / (80 / 0.0432)).toBeCloseTo(1, 1);
    expect(figures.slow_rate_per_s / (80 / 0.0457)).toBeCloseTo(1, 1);
    expect(figures.slow_node_share).toBeCloseTo(1 / 6, 2);
  }, 60_000);

  it("takes medians figure by figure", () => {
    expect(
      medians([
        { a: 1, b: 9 },
        { a: 3, b: 7 },
        { a: 2, b: 8 },
      ]),
    ).toEqual({ a: 2, b: 8 });
  });
});
