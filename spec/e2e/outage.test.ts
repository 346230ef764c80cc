import { describe, expect, it } from "vitest";
import { runWrk, waitFor, withKit } from "../../ts-src/node/testkit";
import { failures, picksOf, startLoad, waitForStatus } from "./support";

const AX = { upstreams: { backend: { ramp_s: 5 } } };

describe("a backend killed with -9 and brought back", () => {
  it("fails no request, is out at once for new picks, and returns with a ramp", () =>
    withKit("outage", async (kit) => {
      const backends = await kit.backends(4, { settings: { delay: { dist: "fixed", mean_ms: 3 } } });
      const gateway = await kit.gateway({ workers: 2, servers: backends, server_params: "fail_timeout=2s", ax: AX });
      const victim = backends[1];
      // A node that fails is avoided at once, and called dead when it answered nothing for a short window.
      const load = startLoad(gateway, 25);
      await waitForStatus(gateway, "traffic on all nodes", (nodes) => nodes.every((node) => node.totals.ok > 50));

      await victim.kill();
      await waitForStatus(gateway, "its ejection", (nodes) => nodes[1].state === "ejected");
      const out = await picksOf(gateway);
      const others_before = Object.values(out).reduce((sum, picks) => sum + picks, 0) - out[victim.address];
      // Out for new picks: the others serve thousands while it gets none.
      await waitForStatus(gateway, "traffic past it", (nodes) => {
        const others = nodes.filter((node) => node.id !== victim.address);
        return others.reduce((sum, node) => sum + node.totals.picks, 0) > others_before + 1000;
      });
      const later = await picksOf(gateway);
      // Picks of the flush that was under way when the ruling came may still have arrived.
      expect(later[victim.address] - out[victim.address]).toBeLessThanOrEqual(20);

      await victim.restart();
      const ramping = await waitForStatus(gateway, "its ramp", (nodes) => nodes[1].state === "ramping");
      const node = ramping.upstreams[0].nodes[1];
      expect(node.effective_weight).toBeLessThan(node.base_weight);
      expect(node.reason).toMatch(/back after .* out/);
      await waitForStatus(
        gateway,
        "its return",
        (nodes) => nodes[1].state === "online" && nodes[1].effective_weight > 0.5,
      );
      const result = await load.done;
      expect(failures(result)).toBe(0);
      expect(result.requests).toBeGreaterThan(1000);
      await waitFor("its share", async () => (await victim.counters()).requests > 100);
      // Each failed try was accounted to the node that failed, and to no other.
      const totals = (await waitForStatus(gateway, "status", () => true)).upstreams[0].nodes;
      expect(totals[1].totals.fail).toBeGreaterThan(0);
      for (const k of [0, 2, 3]) expect(totals[k].totals.fail).toBe(0);
    }));

  it("with every node dead, nodes are tried again as soon as one is back", () =>
    withKit("all-dead", async (kit) => {
      const backends = await kit.backends(3);
      const gateway = await kit.gateway({ servers: backends });
      await Promise.all(backends.map((backend) => backend.kill()));
      await waitFor("nginx's 502", async () => (await gateway.get("/")).status === 502);
      // Keep failing: whatever gets ejected, something must stay to be tried.
      for (let k = 0; k < 30; k++) expect((await gateway.get("/")).status).toBe(502);
      await backends[2].restart();
      await waitFor("an answer", async () => (await gateway.get("/")).status === 200);
      const load = await runWrk({ url: `${gateway.url}/`, connections: 4, duration_s: 2 });
      expect(failures(load)).toBe(0);
    }));
});
