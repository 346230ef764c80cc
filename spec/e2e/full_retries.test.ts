import { describe, expect, it } from "vitest";
import { type Backend, type Gateway, type HttpAnswer, type Kit, waitFor, withKit } from "../../ts-src/node/testkit";
import { statusOf, waitForIdle } from "./support";

const LIMIT = 4;

/** Long enough for a busy machine to fill all places before the first answer. */
const BUSY_MS = 6000;

const NODES = 3;

interface Setting {
  gateway: Gateway;
  backends: Backend[];
}

async function start(kit: Kit, workers: number, options: object, access: boolean): Promise<Setting> {
  const backends = await kit.backends(NODES, { settings: { delay: { dist: "fixed", mean_ms: BUSY_MS } } });
  const backend = { max_concurrency_per_node: LIMIT, retry_ratio: 1, ...options };
  const gateway = await kit.gateway({
    workers,
    // Out of the worker that has seen it fail, at once.
    server_params: "max_fails=1",
    servers: backends,
    ax: { upstreams: { backend } },
    access,
  });
  return { gateway, backends };
}

async function waitForActive(backends: Backend[], count: number): Promise<void> {
  await waitFor(`${count} requests at each node`, async () => {
    const counters = await Promise.all(backends.map((backend) => backend.counters()));
    return counters.every(({ active }) => active === count);
  });
}

function statusesOf(answers: HttpAnswer[]): Record<number, number> {
  const counts: Record<number, number> = {};
  for (const { status } of answers) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
}

/** All places are taken, then a node dies with its requests. */
async function losesNode({ gateway, backends }: Setting, waiting: number): Promise<HttpAnswer[]> {
  const get = (): Promise<HttpAnswer> => gateway.get("/", { timeout_ms: 60_000 });
  const sent = Array.from({ length: NODES * LIMIT }, get);
  await waitForActive(backends, LIMIT);
  const more = Array.from({ length: waiting }, get);
  if (waiting > 0) {
    await waitFor("the queue", async () => {
      const { queue } = (await statusOf(gateway)).upstreams[0].admission as { queue: { waiting: number } };
      return queue.waiting === waiting;
    });
  }
  for (const backend of backends.slice(1)) await backend.set({ delay: { dist: "fixed", mean_ms: 50 } });
  await backends[0].kill();
  return Promise.all([...sent, ...more]);
}

async function most(backends: Backend[]): Promise<number> {
  return Math.max(...(await Promise.all(backends.map(async (backend) => (await backend.counters()).max_active))));
}

describe("a request whose node dies while all others are full", () => {
  // The other worker's waiters may be given the dead node's places before it knows: they need overflow, too.
  it.each([
    { workers: 1, max_overflow_ratio: 0.5 },
    { workers: 2, max_overflow_ratio: 1 },
  ])("is retried in the overflow, which those that can wait have left to it: $workers workers", (given) =>
    withKit("retry-queue", async (kit) => {
      const { workers, max_overflow_ratio } = given;
      const queue = { size: 100, timeout_ms: 60_000 };
      const setting = await start(kit, workers, { max_overflow_ratio, queue }, true);
      const answers = await losesNode(setting, 20);
      expect(statusesOf(answers)).toEqual({ 200: NODES * LIMIT + 20 });
      expect(await most(setting.backends.slice(1))).toBeGreaterThan(LIMIT);
      expect(await most(setting.backends.slice(1))).toBeLessThanOrEqual(LIMIT * (1 + max_overflow_ratio));
      await waitForIdle(setting.gateway);
      expect((await statusOf(setting.gateway)).faults).toEqual({});
    }),
  );

  it("is retried in the overflow, not at the dead node whose slot is free", () =>
    withKit("retry-overflow", async (kit) => {
      const setting = await start(kit, 2, { max_overflow_ratio: 0.5 }, false);
      expect(statusesOf(await losesNode(setting, 0))).toEqual({ 200: NODES * LIMIT });
      expect(await most(setting.backends.slice(1))).toBe(LIMIT * 1.5);
    }));

  it("gets nginx's 502 where there is no overflow; the limit holds", () =>
    withKit("retry-none", async (kit) => {
      const setting = await start(kit, 2, { max_overflow_ratio: 0 }, false);
      expect(statusesOf(await losesNode(setting, 0))).toEqual({ 200: (NODES - 1) * LIMIT, 502: LIMIT });
      expect(await most(setting.backends.slice(1))).toBe(LIMIT);
    }));
});
