import { describe, expect, it } from "vitest";
import { runWrk, waitFor, withKit } from "../../ts-src/node/testkit";
import { nodesOf, type NodeStatus, statusOf, waitForIdle, waitForStatus } from "./support";

type Limited = NodeStatus & { limit?: number; adaptive_limit?: { base_ms?: number; measuring: boolean } };

describe("an adaptive limit on real nginx", () => {
  it("is found under load, keeps the node's own line short, and survives a reload", () =>
    withKit("adaptive", async (kit) => {
      const settings = { delay: { dist: "exp", mean_ms: 30 }, slots: 8 } as const;
      const backends = await kit.backends(1, { settings });
      const backend = { adaptive_limit: {}, queue: { size: 500, timeout_ms: 10_000 } };
      const gateway = await kit.gateway({
        workers: 2,
        servers: backends,
        ax: { upstreams: { backend } },
        access: true,
      });
      const load = runWrk({ url: `${gateway.url}/`, connections: 64, duration_s: 14 });
      const found = await waitForStatus(gateway, "a limit near the 8 slots", (nodes) => {
        const { limit, adaptive_limit } = nodes[0] as Limited;
        return adaptive_limit?.base_ms !== undefined && !adaptive_limit.measuring && limit !== undefined && limit <= 24;
      });
      expect((found.upstreams[0].nodes[0] as Limited).limit).toBeGreaterThanOrEqual(5);
      // What was sent before is answered, and idle leases are back.
      await waitFor("a short line at the node", async () => (await backends[0].counters()).queued <= 16);
      await backends[0].resetCounters();
      const result = await load;
      // All 64 would be in flight without a limit: 56 in line.
      expect((await backends[0].counters()).max_queued).toBeLessThanOrEqual(30);
      expect(result.errors.status).toBe(0);
      await waitForIdle(gateway);
      const before = (await nodesOf(gateway))[0] as Limited;
      await gateway.reload();
      await waitFor("a collector of the new workers", async () => {
        const { collector } = await statusOf(gateway);
        return collector.pid !== undefined && gateway.workerPids().includes(collector.pid);
      });
      const after = (await nodesOf(gateway))[0] as Limited;
      expect(after.adaptive_limit?.base_ms).toBe(before.adaptive_limit?.base_ms);
      expect((await statusOf(gateway)).faults).toEqual({});
    }));
});
