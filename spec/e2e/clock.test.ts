import { existsSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { type Gateway, pause, runOpenLoop, waitFor, withKit } from "../../ts-src/node/testkit";
import { newNode } from "./health_nodes";
import { failures, type NodeStatus, statusOf, waitForStatus } from "./support";

interface Timed extends NodeStatus {
  until_s?: number;
  operator?: { kind: string; until_s?: number };
}

/** faketime's library: lies about the wall clock, by what a file says, and leaves monotonic time alone. */
function libraryPath(): string {
  const found = readdirSync("/usr/lib")
    .map((dir) => join("/usr/lib", dir, "faketime/libfaketime.so.1"))
    .find((path) => existsSync(path));
  if (found === undefined) throw new Error("libfaketime is missing: install the Debian package faketime");
  return found;
}

async function wallClockS(gateway: Gateway): Promise<number> {
  return Date.parse(String((await gateway.get("/")).headers.date)) / 1000;
}

async function timesOf(gateway: Gateway): Promise<{ nodes: Timed[]; at_s: number; leased: number }> {
  const [upstream] = (await statusOf(gateway)).upstreams;
  const { limits } = upstream as unknown as { limits: { leased: number } };
  return { nodes: upstream.nodes, at_s: performance.now() / 1000, leased: limits.leased };
}

/** What has changed in between is the time that has really passed, and nothing else. */
function expectUndisturbed(
  before: Awaited<ReturnType<typeof timesOf>>,
  after: Awaited<ReturnType<typeof timesOf>>,
): void {
  const passed_s = after.at_s - before.at_s;
  const near = (value: number | undefined, expected: number): void => {
    expect(Math.abs((value ?? NaN) - expected)).toBeLessThan(2);
  };
  expect(after.nodes.map(({ state }) => state)).toEqual(before.nodes.map(({ state }) => state));
  for (const [i, now] of after.nodes.entries()) {
    const then = before.nodes[i];
    near(now.since_s, (then.since_s ?? NaN) + passed_s);
    if (then.until_s !== undefined) near(now.until_s, then.until_s - passed_s);
    if (then.operator?.until_s !== undefined) near(now.operator?.until_s, then.operator.until_s - passed_s);
    expect(now.operator?.kind).toBe(then.operator?.kind);
    // A ramp of 200 s from 20 %: 0.4 % a second. Scores move by themselves.
    const ramp = ({ effective_weight, score = 1 }: Timed): number => effective_weight / score;
    expect(Math.abs(ramp(now) - ramp(then))).toBeLessThan(0.1);
  }
  expect(after.nodes[0].in_flight).toBeGreaterThanOrEqual(1);
}

describe("steps of the wall clock by an hour, to and fro, under load", () => {
  it("change no state, end, ramp, will, event or slot", () =>
    withKit("clock", async (kit) => {
      const nodes = await Promise.all(Array.from({ length: 6 }, () => newNode((part) => void kit.keep(part))));
      const [a, , dead, away, ramping] = nodes;
      const dir = (await kit.backend()).dir;
      const file = join(dir, "clock");
      const step = (offset: string): void => writeFileSync(file, `${offset}\n`);
      step("+0");
      const env = {
        LD_PRELOAD: libraryPath(),
        FAKETIME_TIMESTAMP_FILE: file,
        FAKETIME_NO_CACHE: "1",
        FAKETIME_DONT_FAKE_MONOTONIC: "1",
        DONT_FAKE_MONOTONIC: "1",
      };
      const gateway = await kit.gateway({
        workers: 2,
        servers: nodes.map(({ address }) => `${address} max_fails=3 fail_timeout=500s`),
        ax: { upstreams: { backend: { ramp_s: 200, window_short_s: 2, window_long_s: 10 } } },
        env,
        main: Object.keys(env)
          .map((name) => `env ${name};`)
          .join("\n"),
      });
      const change = (id: string, body: object): Promise<unknown> =>
        gateway.get(`/ax/v1/upstreams/backend/nodes/${id}`, {
          method: "PATCH",
          headers: { "Content-Type": "application/json" },
          body,
        });
      const load = runOpenLoop({ url: `${gateway.url}/`, rate: 100, count: 3000, timeout_ms: 50_000 });
      await waitForStatus(gateway, "traffic", (all) => all.every(({ totals }) => totals.ok > 5));

      await dead.kill();
      await change(away.address, { maintenance: true, for_s: 600 });
      await change(ramping.address, { force: "down" });
      await waitForStatus(gateway, "one forced down", (all) => all[4].state === "offline");
      await change(ramping.address, { force: null });
      // A request or two that last, among others that are answered.
      a.set({ hang: true });
      const asked = a.requests;
      await waitFor("a request that hangs", () => a.requests > asked);
      a.set({ hang: false });
      const hung = a.requests - asked;
      const states = ["online", "online", "ejected", "maintenance", "ramping", "online"];
      await waitForStatus(gateway, "a state of each kind", (all) => all.every(({ state }, i) => state === states[i]));

      const real_s = await wallClockS(gateway);
      for (const [offset, shift_s] of [
        ["+3600", 3600],
        ["-3600", -3600],
        ["+0", 0],
      ] as const) {
        const before = await timesOf(gateway);
        step(offset);
        const hasStepped = async (): Promise<boolean> => Math.abs((await wallClockS(gateway)) - real_s - shift_s) < 300;
        await waitFor(`the clock to be at ${offset}`, hasStepped);
        await pause(3000);
        expectUndisturbed(before, await timesOf(gateway));
      }

      // Those that were left hanging, and no other.
      const result = await load;
      expect(failures(result)).toBeLessThanOrEqual(hung);
      step("-3600");
      await gateway.reload();
      expect((await timesOf(gateway)).nodes.map(({ state }) => state)).toEqual(states);
      await change(away.address, { maintenance: false });
      await waitForStatus(gateway, "it to be back", (all) => all[3].state === "ramping");
      const answer = await gateway.get("/ax/v1/upstreams/backend/events");
      const { events } = JSON.parse(answer.text) as { events: { seq: number; age_s: number; wall_s: number }[] };
      expect(events.map(({ seq }) => seq)).toEqual(events.map((_, i) => events.length - i));
      // The newest first, whatever the wall clock said: by that the last one is an hour before the first.
      for (let i = 1; i < events.length; i++) expect(events[i].age_s).toBeGreaterThanOrEqual(events[i - 1].age_s);
      expect(events[0].age_s).toBeLessThan(60);
      expect(events[0].wall_s).toBeLessThan(events.at(-1)!.wall_s - 3000);

      await waitFor("no slot leased", async () => (await timesOf(gateway)).leased === 0, 30_000);
    }));
});
