import { afterAll, describe, expect, it } from "vitest";
import {
  type Gateway,
  http,
  type OpenLoopResult,
  pause,
  runOpenLoop,
  waitFor,
  withKit,
} from "../../ts-src/node/testkit";
import { filteredNode, type HealthNode, newNode } from "./health_nodes";
import { deafServer } from "./probe_servers";
import { failures, nodesOf, type NodeStatus, statusOf, waitForStatus } from "./support";

/*
 * What users lose while nodes fail, and how long nodes are out: on real nginx, with times shorter than the defaults where
 * the rule is the same. Prints a table at the end (docs/health.md).
 */

/** Defaults: 5, 60, 30, 60, 600, 30 s; fail_timeout 30 s. */
const SHORT = {
  window_short_s: 2,
  window_long_s: 10,
  eject_error_rate_for_s: 5,
  cool_down_s: 3,
  cool_down_max_s: 6,
  ramp_s: 2,
};

/** Requests a second, and how long at most. */
const RATE = 150;
const LONGEST_S = 110;

interface HealthEvent {
  at_ms: number;
  wall_s: number;
  node: string;
  from: string;
  to: string;
  reason: string;
}

interface Row {
  scenario: string;
  requests: number;
  failed: number;
  suspect_s?: number;
  out_s?: number;
  back_s?: number;
  note: string;
}

const rows: Row[] = [];

function seconds(value: number | undefined): string {
  return value === undefined ? "-" : `${value.toFixed(1)} s`;
}

afterAll(() => {
  const head = ["scenario", "requests", "failed", "share", "suspect", "out", "back", ""];
  const lines = rows.map((row) => [
    row.scenario,
    String(row.requests),
    String(row.failed),
    `${((row.failed / row.requests) * 100).toFixed(2)} %`,
    seconds(row.suspect_s),
    seconds(row.out_s),
    seconds(row.back_s),
    row.note,
  ]);
  const widths = head.map((_, i) => Math.max(...[head, ...lines].map((line) => line[i].length)));
  const text = [head, ...lines].map((line) =>
    line
      .map((cell, i) => cell.padEnd(widths[i]))
      .join("  ")
      .trimEnd(),
  );
  console.log(`\n${text.join("\n")}\n`);
});

async function eventsOf(gateway: Gateway): Promise<HealthEvent[]> {
  const answer = await gateway.get("/ax/v1/upstreams/backend/events?limit=256");
  return (JSON.parse(answer.text) as { events: HealthEvent[] }).events.reverse();
}

function now(): number {
  return Date.now() / 1000;
}

/** When the node first came to the state after that time, s after it. */
function after(events: HealthEvent[], node: { address: string }, to: string, from_s: number): number | undefined {
  const event = events.find(
    ({ node: id, to: state, wall_s }) => id === node.address && state === to && wall_s >= from_s,
  );
  return event === undefined ? undefined : event.wall_s - from_s;
}

/** For the message of an expectation: what happened. */
function story(events: HealthEvent[], load: OpenLoopResult): string {
  const lines = events.map(({ wall_s, node, from, to, reason }) => `${wall_s} ${node} ${from} → ${to}: ${reason}`);
  return [...lines, JSON.stringify({ by_status: load.by_status, errors: load.errors })].join("\n");
}

interface Scene {
  gateway: Gateway;
  nodes: HealthNode[];
  /** The one that fails. */
  bad: HealthNode;
}

interface Times {
  broken_s: number;
  healed_s?: number;
  note?: string;
}

interface Setting {
  count?: number;
  /** A node of another kind, and the one that the times are about. */
  other?: { address: string };
  upstream?: object;
  location?: string;
  /** Before the gateway starts. */
  before?: (bad: HealthNode) => void;
}

/** Runs a load past a gateway while `play` breaks and mends, and notes what came of it. */
async function scenario(
  name: string,
  setting: Setting,
  play: (scene: Scene) => Promise<Times>,
): Promise<{ events: HealthEvent[]; row: Row; bad: HealthNode; what: string; denied: number }> {
  const { count = 6, other, upstream = {}, location, before } = setting;
  return withKit(name.replaceAll(/\W+/g, "-"), async (kit) => {
    const nodes = await Promise.all(Array.from({ length: count }, () => newNode((part) => void kit.keep(part))));
    const bad = nodes[1];
    before?.(bad);
    const gateway = await kit.gateway({
      servers: [...nodes, ...(other === undefined ? [] : [other])].map(
        ({ address }) => `${address} fail_timeout=3s max_fails=10`,
      ),
      ax: { upstreams: { backend: { ...SHORT, ...upstream } } },
      location,
    });
    // As long as it takes: on a busy machine everything takes longer, and without requests no node comes back.
    const over = new AbortController();
    const { signal } = over;
    const done = runOpenLoop({
      url: `${gateway.url}/`,
      rate: RATE,
      count: RATE * LONGEST_S,
      timeout_ms: 20_000,
      signal,
    });
    const times = await play({ gateway, nodes, bad }).finally(() => over.abort());
    const load = await done;
    const events = await eventsOf(gateway);
    // When many requests are cut off at once, the retry budget has no second try for all of them (docs/limits.md).
    const [shown] = (await statusOf(gateway)).upstreams;
    const { denied } = (shown as unknown as { limits: { retries: { denied: number } } }).limits.retries;
    const watched = other ?? bad;
    const row: Row = {
      scenario: name,
      requests: load.requests + failures(load) - load.errors.status,
      failed: failures(load),
      suspect_s: after(events, watched, "suspect", times.broken_s),
      out_s: after(events, watched, "ejected", times.broken_s),
      back_s: times.healed_s === undefined ? undefined : after(events, watched, "ramping", times.healed_s),
      note: [times.note, denied > 0 ? `${denied} retries denied` : undefined]
        .filter((part) => part !== undefined)
        .join(", "),
    };
    rows.push(row);
    return { events, row, bad, what: story(events, load), denied };
  });
}

function warm({ gateway }: Scene): Promise<unknown> {
  return waitForStatus(gateway, "traffic", (nodes) => nodes.every(({ totals }) => totals.ok > 20));
}

function waitForState({ gateway, bad }: Scene, state: string): Promise<unknown> {
  return waitForStatus(gateway, `it to be ${state}`, (nodes) =>
    nodes.some(({ id, state: is }) => id === bad.address && is === state),
  );
}

/** Breaks the node, waits until it is out, mends it, and waits until it is in rotation again. */
function outAndBack(scene: Scene, breakIt: () => void, mend: () => void): Promise<Times> {
  return (async () => {
    await warm(scene);
    const broken_s = now();
    breakIt();
    await waitForState(scene, "ejected");
    mend();
    const healed_s = now();
    await waitForState(scene, "online");
    return { broken_s, healed_s };
  })();
}

describe.concurrent("users' requests, when a node", () => {
  it("answers 500 while it starts up: it is not ejected", async () => {
    const before = (bad: HealthNode): void => bad.set({ error_share: 1 });
    const { events, row, bad, what } = await scenario("start-up blip, 3 s", { before }, async (scene) => {
      const broken_s = now();
      await pause(3000);
      scene.bad.set({ error_share: 0 });
      await waitForState(scene, "online");
      // The errors leave the windows one after the other: tens of seconds on a busy machine.
      await waitFor("its share", async () => (await nodesOf(scene.gateway))[1].totals.ok > 20, 60_000);
      return { broken_s };
    });
    expect(events.filter(({ node, to }) => node === bad.address && to === "ejected")).toEqual([]);
    expect(row.failed, what).toBeLessThan(0.03 * row.requests);
  });

  it("leaks, slower and slower, then failing", async () => {
    const { row, what } = await scenario("slow leak", {}, async (scene) => {
      await warm(scene);
      const broken_s = now();
      for (let step = 1; step <= 25; step++) {
        scene.bad.set({ delay_ms: 3 + step * 8, error_share: Math.max(0, (step - 10) / 15) });
        await pause(200);
      }
      await waitForState(scene, "ejected");
      scene.bad.set({ delay_ms: 3, error_share: 0 });
      const healed_s = now();
      await waitForState(scene, "online");
      return { broken_s, healed_s };
    });
    expect(row.failed, what).toBeLessThan(0.01 * row.requests);
  });

  it("is a black hole: 500 at once", async () => {
    const { row, what } = await scenario("black hole", {}, (scene) =>
      outAndBack(
        scene,
        () => scene.bad.set({ error_share: 1, delay_ms: 0 }),
        () => scene.bad.set({ error_share: 0, delay_ms: 3 }),
      ),
    );
    expect(row.failed, what).toBeLessThan(0.01 * row.requests);
  });

  it("fails 30 % of requests at once", async () => {
    // Picks avoid it so thoroughly that it need not be thrown out; then it only has to get its share again.
    const { row, what } = await scenario("fast errors, 30 %", {}, async (scene) => {
      await warm(scene);
      const broken_s = now();
      scene.bad.set({ error_share: 0.3 });
      await pause(12_000);
      scene.bad.set({ error_share: 0 });
      const healed_s = now();
      const isBack = (nodes: NodeStatus[]): boolean => nodes[1].state === "online" && (nodes[1].share ?? 0) > 0.08;
      await waitForStatus(scene.gateway, "its share", isBack);
      return { broken_s, healed_s, note: `its share again after ${(now() - healed_s).toFixed(1)} s` };
    });
    expect(row.failed, what).toBeLessThan(0.01 * row.requests);
  });

  it("is down and up every 5 s: no request fails", async () => {
    const { row, what, denied } = await scenario("flapping, 5 s / 5 s", {}, async (scene) => {
      await warm(scene);
      const broken_s = now();
      let healed_s = 0;
      for (let turn = 0; turn < 2; turn++) {
        await scene.bad.kill();
        await pause(5000);
        await scene.bad.restart();
        healed_s = now();
        await pause(5000);
      }
      await waitForState(scene, "online");
      return { broken_s, healed_s };
    });
    expect(row.failed, what).toBeLessThanOrEqual(denied);
  });

  it("hangs: it is suspect before anything times out, and no request fails", async () => {
    const location = "proxy_read_timeout 10s;";
    const { row, what, denied, events, bad } = await scenario("hang", { location }, (scene) =>
      outAndBack(
        scene,
        () => scene.bad.set({ hang: true }),
        () => scene.bad.set({ hang: false }),
      ),
    );
    expect(row.failed, what).toBeLessThanOrEqual(denied);
    // The first thing known of it is its silence, not a time-out.
    expect(events.find(({ node, to }) => node === bad.address && to === "suspect")?.reason).toMatch(/^no answer for /);
  });

  for (const [kind, behaviour] of [
    ["hanging", { hang: true }],
    ["failing", { error_share: 1 }],
  ] as const) {
    it(`has a stuck business pool (${kind}) and a health page that works`, async () => {
      const location = "proxy_read_timeout 2s;";
      const upstream = { probe: { tcp_interval_s: 0, timeout_s: 1, http: { interval_s: 1 } } };
      let tried = 0;
      const { events, row, bad, what } = await scenario(
        `stuck pool, ${kind}`,
        { location, upstream },
        async (scene) => {
          await warm(scene);
          const broken_s = now();
          scene.bad.set(behaviour);
          await waitForState(scene, "ejected");
          const requests = scene.bad.requests;
          // Two cool-downs: the health page passes, and one request each finds the node stuck.
          await waitForStatus(scene.gateway, "trials that fail", (nodes) => (nodes[1].ejections ?? 0) >= 3);
          tried = scene.bad.requests - requests;
          expect((await nodesOf(scene.gateway))[1].probe?.verdict).toBe("pass");
          scene.bad.set({ hang: false, error_share: 0 });
          const healed_s = now();
          await waitForState(scene, "online");
          return { broken_s, healed_s, note: `${tried} requests tried it while out` };
        },
      );
      // One for each trial; what was under way when it was thrown out may still come.
      expect(tried).toBeLessThanOrEqual(6);
      const ramp = events.find(({ node, to }) => node === bad.address && to === "ramping");
      expect(ramp?.reason).toMatch(/its request was answered$/);
      expect(row.failed, what).toBeLessThan(0.01 * row.requests);
    });
  }

  it("is not there any more, like all the others: they serve again as soon as they are back", async () => {
    let back_ms = 0;
    const { row, what } = await scenario("all dead for 4 s", { count: 4 }, async (scene) => {
      await warm(scene);
      const broken_s = now();
      await Promise.all(scene.nodes.map((node) => node.kill()));
      await pause(4000);
      expect((await nodesOf(scene.gateway)).some(({ state }) => state === "suspect" || state === "online")).toBe(true);
      await Promise.all(scene.nodes.map((node) => node.restart()));
      const began = performance.now();
      const healed_s = now();
      const isServed = async (): Promise<boolean> => (await http(`${scene.gateway.url}/`)).status === 200;
      await waitFor("an answer", isServed);
      back_ms = performance.now() - began;
      await waitForStatus(scene.gateway, "all", (nodes) => nodes.every(({ state }) => state === "online"));
      return { broken_s, healed_s, note: `served again after ${(back_ms / 1000).toFixed(2)} s` };
    });
    // 4 s of about 14 are lost whatever one does.
    expect(row.failed, what).toBeLessThan(RATE * 6);
  });

  it("of three is lost, and another one too: the third serves all", async () => {
    const { row, what, denied } = await scenario("3 nodes lose 2", { count: 3 }, async (scene) => {
      await warm(scene);
      const broken_s = now();
      await Promise.all([scene.nodes[1].kill(), scene.nodes[2].kill()]);
      await pause(8000);
      expect((await nodesOf(scene.gateway))[0].state).toMatch(/^(online|degraded)$/);
      await Promise.all([scene.nodes[1].restart(), scene.nodes[2].restart()]);
      const healed_s = now();
      await waitForStatus(scene.gateway, "all", (nodes) => nodes.every(({ state }) => state === "online"));
      return { broken_s, healed_s };
    });
    expect(row.failed, what).toBeLessThanOrEqual(denied);
  });

  it("is behind a firewall that drops SYNs: no request fails", () =>
    withKit("syn", async (kit) => {
      const keep = (part: { stop(): Promise<void> }): void => void kit.keep(part);
      const filtered = await filteredNode(keep);
      const deaf = filtered === undefined ? await deafServer() : undefined;
      if (deaf !== undefined) keep({ stop: () => Promise.resolve(deaf.close()) });
      const address = filtered?.address ?? `127.0.0.1:${deaf?.port ?? 0}`;
      const location = "proxy_connect_timeout 1s;";
      const note = filtered === undefined ? "listening socket with a full backlog" : "network namespace, iptables";
      const { row, what, denied } = await scenario("SYN dropped", { location, other: { address } }, async (scene) => {
        const isIn = (state: string) =>
          waitForStatus(scene.gateway, `it to be ${state}`, (nodes) =>
            nodes.some((node) => node.id === address && node.state === state),
          );
        if (filtered !== undefined) await warm(scene);
        const broken_s = now();
        filtered?.drop(true);
        await isIn("ejected");
        if (filtered === undefined) return { broken_s, note };
        filtered.drop(false);
        const healed_s = now();
        await isIn("online");
        return { broken_s, healed_s, note };
      });
      expect(row.failed, what).toBeLessThanOrEqual(denied);
    }));
});
