import { describe, expect, it } from "vitest";
import { http, waitFor, withKit } from "../../ts-src/node/testkit";
import { nodesOf, type Status, startLoad, statusOf, waitForIdle, waitForStatus } from "./support";

describe("a worker killed with -9 under load", () => {
  it("leaves no request in flight behind, whether it was the collector or not", () =>
    withKit("worker-death", async (kit) => {
      const backends = await kit.backends(3, { settings: { delay: { dist: "fixed", mean_ms: 20 } } });
      const gateway = await kit.gateway({ workers: 3, servers: backends });
      const load = startLoad(gateway, 14, { connections: 48 });
      const begun = await waitForStatus(
        gateway,
        "load, and a collector",
        (nodes, status) => nodes.every((node) => node.totals.ok > 20) && status.collector.pid !== undefined,
      );
      const collector = begun.collector.pid!;
      const other = gateway.workerPids().find((pid) => pid !== collector)!;
      await gateway.killWorker(other);
      const after = await waitForStatus(
        gateway,
        "a status without it",
        (_, status) => status.workers.length === 3 && status.workers.every((worker) => worker.pid !== other),
      );
      expect(after.collector.pid).toBe(collector);

      await gateway.killWorker(collector);
      await waitForStatus(
        gateway,
        "another collector",
        (_, status) => status.collector.pid !== collector && (status.collector.data_age_ms ?? 1e9) < 2000,
      );
      await load.done;
      await waitForIdle(gateway);
    }));

  it("the collector's generation goes on, and totals are not lost with the collector", () =>
    withKit("collector-death", async (kit) => {
      const backends = await kit.backends(2);
      const gateway = await kit.gateway({ workers: 2, servers: backends });
      for (let k = 0; k < 50; k++) await gateway.get("/");
      const before = await waitForStatus(
        gateway,
        "50 outcomes",
        (nodes) => nodes[0].totals.ok + nodes[1].totals.ok >= 50,
      );
      await gateway.killWorker(before.collector.pid!);
      const after = await waitForStatus(
        gateway,
        "the next collector",
        (_, { collector }) => collector.pid !== before.collector.pid,
      );
      expect(after.collector.generation).toBeGreaterThan(before.collector.generation!);
      const nodes = await nodesOf(gateway);
      expect(nodes[0].totals.ok + nodes[1].totals.ok).toBeGreaterThanOrEqual(50);
    }));

  it("a worker that was stopped and goes on finds its place again", () =>
    withKit("stopped", async (kit) => {
      const backends = await kit.backends(2);
      const gateway = await kit.gateway({ workers: 2, servers: backends });
      const begun = await waitForStatus(gateway, "a collector", (_, status) => status.collector.pid !== undefined);
      const collector = begun.collector.pid!;
      process.kill(collector, "SIGSTOP");
      try {
        // The kernel may wake the stopped worker alone for a connection: ask until the other one gets it.
        await waitFor("another collector", async () => {
          const answer = await gateway.get("/ax/v1/upstreams", { timeout_ms: 300 }).catch(() => undefined);
          return answer !== undefined && (JSON.parse(answer.text) as Status).collector.pid !== collector;
        });
      } finally {
        process.kill(collector, "SIGCONT");
      }
      await waitForStatus(
        gateway,
        "both workers",
        (_, status) => status.workers.length === 2 && new Set(status.workers.map((worker) => worker.pid)).size === 2,
      );
      await Promise.all(Array.from({ length: 40 }, () => http(`${gateway.url}/`)));
      await waitForIdle(gateway);
      expect((await statusOf(gateway)).faults).toEqual({});
    }));
});
