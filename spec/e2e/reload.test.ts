import { describe, expect, it } from "vitest";
import { withKit } from "../../ts-src/node/testkit";
import { failures, nodesOf, startLoad, statusOf, waitForStatus } from "./support";

describe("reloads under load", () => {
  it("ten in a row fail no request and keep scores and ejections", () =>
    withKit("reloads", async (kit) => {
      const backends = await kit.backends(4, { settings: { delay: { dist: "fixed", mean_ms: 3 } } });
      const gateway = await kit.gateway({ workers: 2, servers: backends, server_params: "fail_timeout=600s" });
      const load = startLoad(gateway, 30, { reconnect: true });
      await backends[0].kill();
      await backends[3].set({ delay: { dist: "fixed", mean_ms: 60 } });
      const settled = await waitForStatus(
        gateway,
        "an ejection and a low score",
        (nodes) => nodes[0].state === "ejected" && (nodes[3].score ?? 1) <= 0.5,
      );
      const since_s = settled.upstreams[0].nodes[0].since_s!;
      for (let k = 0; k < 10; k++) {
        await gateway.reload();
        const [dead, , , slow] = await nodesOf(gateway);
        expect(dead.state).toBe("ejected");
        expect(dead.since_s).toBeGreaterThanOrEqual(since_s);
        expect(slow.score).toBeLessThan(0.8);
      }
      const result = await load.done;
      expect(failures(result)).toBe(0);
      await gateway.waitForRetired();
      const status = await statusOf(gateway);
      expect(status.workers).toHaveLength(2);
      expect(status.faults).toEqual({});
    }));

  it("the first picks after a reload already know what was known before", () =>
    withKit("informed", async (kit) => {
      const backends = await kit.backends(3, { settings: { delay: { dist: "fixed", mean_ms: 2 } } });
      const gateway = await kit.gateway({ workers: 1, servers: backends });
      const slow = backends[1];
      await slow.set({ delay: { dist: "fixed", mean_ms: 100 } });
      const load = startLoad(gateway, 8, { connections: 8 });
      await waitForStatus(gateway, "a low score", (nodes) => (nodes[1].score ?? 1) <= 0.6);
      await load.done;
      await gateway.reload();
      await slow.resetCounters();
      // One at a time, so that nothing but what was inherited can tell the nodes apart.
      for (let k = 0; k < 40; k++) expect((await gateway.get("/")).status).toBe(200);
      expect((await slow.counters()).requests).toBe(0);
    }));

  it("an edited list keeps the state of the nodes that stay, and ramps up the new one", () =>
    withKit("edited", async (kit) => {
      const backends = await kit.backends(4, { settings: { delay: { dist: "fixed", mean_ms: 2 } } });
      const [a, b, c, d] = backends as [
        (typeof backends)[0],
        (typeof backends)[0],
        (typeof backends)[0],
        (typeof backends)[0],
      ];
      const gateway = await kit.gateway({ workers: 2, servers: [a, b, c], server_params: "fail_timeout=600s" });
      const load = startLoad(gateway, 12, { reconnect: true });
      await c.kill();
      await waitForStatus(gateway, "its ejection", (nodes) => nodes[2].state === "ejected");
      // The dead node moves to the front: by position it would be a healthy one's turn to be out.
      await gateway.reload({ servers: [c, d, b] });
      const status = await waitForStatus(gateway, "the new node", (nodes) => nodes[1].totals.ok > 0);
      const nodes = status.upstreams[0].nodes;
      expect(nodes.map((node) => node.id)).toEqual([c.address, d.address, b.address]);
      expect(nodes[0].state).toBe("ejected");
      expect(nodes[1].state).toBe("ramping");
      expect(nodes[2].state).toBe("online");
      expect(failures(await load.done)).toBe(0);
    }));
});
