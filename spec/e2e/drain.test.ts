import { describe, expect, it } from "vitest";
import { type Gateway, type HttpAnswer, waitFor, withKit } from "../../ts-src/node/testkit";
import { statusOf, waitForIdle } from "./support";

interface Queue {
  waiting: number;
  drain?: { by: string; refuse: number[]; extra: number };
}

async function queueOf(gateway: Gateway): Promise<Queue> {
  return ((await statusOf(gateway)).upstreams[0].admission as { queue: Queue }).queue;
}

function patch(gateway: Gateway, body: unknown): Promise<HttpAnswer> {
  const headers = { "Content-Type": "application/json" };
  return gateway.get("/ax/v1/upstreams/backend", { method: "PATCH", headers, body });
}

function reasonOf(answer: HttpAnswer): string {
  return `${answer.status} ${String(answer.headers["x-ax-reject"] ?? "")}`.trim();
}

describe("draining a backlog on real nginx", () => {
  it("refuses the classes named, lets more through in steps, and ends when nothing waits", () =>
    withKit("drain-backlog", async (kit) => {
      const backends = await kit.backends(1, { settings: { delay: { dist: "fixed", mean_ms: 3000 } } });
      const backend = {
        max_concurrency_per_node: 20,
        max_overflow_ratio: 0,
        class_source: "header:X-Class",
        trust_client_class: true,
        window_short_s: 1,
        queue: { size: 1000, timeout_ms: 60_000, drain: { max_extra_ratio: 0.5 } },
      };
      const gateway = await kit.gateway({
        workers: 2,
        servers: backends,
        ax: { upstreams: { backend } },
        access: true,
      });
      const get = (name: string): Promise<string> =>
        gateway.get("/", { headers: { "X-Class": name }, timeout_ms: 60_000 }).then(reasonOf);
      const all = Array.from({ length: 20 }, () => get("normal"));
      await waitFor("a full node", async () => (await backends[0].counters()).active === 20);
      await backends[0].set({ delay: { dist: "fixed", mean_ms: 150 } });
      for (let k = 0; k < 500; k++) all.push(get(k % 2 === 0 ? "batch" : "normal"));
      await waitFor("the backlog", async () => (await queueOf(gateway)).waiting === 500);
      const shown = await patch(gateway, { drain_backlog: true, refuse: ["batch"] });
      expect(shown.status).toBe(200);
      await waitFor("the drain", async () => (await queueOf(gateway)).drain?.refuse.join() === "5");
      // A flush later every worker knows.
      await waitFor("a refusal in each worker", async () => {
        const answers = await Promise.all(Array.from({ length: 8 }, () => get("batch")));
        return answers.every((answer) => answer === "503 draining");
      });
      all.push(get("vip"), get("normal"));
      await waitFor("a step", async () => ((await queueOf(gateway)).drain?.extra ?? 0) >= 5);
      expect(new Set(await Promise.all(all))).toEqual(new Set(["200"]));
      await waitFor("the end", async () => (await queueOf(gateway)).drain === undefined);
      const { max_active } = await backends[0].counters();
      expect(max_active).toBeGreaterThan(20);
      expect(max_active).toBeLessThanOrEqual(30);
      await waitFor("batch to be taken in", async () => (await get("batch")) === "200");
      await waitForIdle(gateway);
      expect((await statusOf(gateway)).faults).toEqual({});
    }));

  it("begins by itself when the queue stays full, where that is configured", () =>
    withKit("drain-by-size", async (kit) => {
      const backends = await kit.backends(1, { settings: { delay: { dist: "fixed", mean_ms: 6000 } } });
      const nodes = [{ address: backends[0].address, max_conns: 1 }];
      const backend = { nodes, queue: { size: 10, timeout_ms: 60_000, drain: { from: 0.5 } } };
      const gateway = await kit.gateway({ servers: backends, ax: { upstreams: { backend } }, access: true });
      const all = [gateway.get("/")];
      await waitFor("a full node", async () => (await backends[0].counters()).active === 1);
      await backends[0].set({ delay: { dist: "fixed", mean_ms: 20 } });
      for (let k = 0; k < 8; k++) all.push(gateway.get("/"));
      await waitFor("the drain", async () => (await queueOf(gateway)).drain?.by === "size");
      await waitFor("a refusal", async () => reasonOf(await gateway.get("/")) === "503 draining");
      expect((await Promise.all(all)).map(({ status }) => status)).toEqual(all.map(() => 200));
      await waitFor("intake", async () => (await gateway.get("/")).status === 200);
      expect((await backends[0].counters()).max_active).toBe(1);
    }));
});
