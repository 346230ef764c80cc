import { describe, expect, it } from "vitest";
import { waitFor, withKit } from "../../ts-src/node/testkit";
import { failures, nodesOf, picksOf, startLoad, waitForStatus } from "./support";

describe("zones and classes on real nginx", () => {
  it("serve from the own zone, and from the others when it is gone, without an error", () =>
    withKit("zones", async (kit) => {
      const backends = await kit.backends(3, { settings: { delay: { dist: "fixed", mean_ms: 2 } } });
      const nodes = backends.map((backend, k) => ({
        address: backend.address,
        zone: k === 0 ? "a" : "b",
        max_fails: 1,
      }));
      const gateway = await kit.gateway({ servers: backends, ax: { upstreams: { backend: { nodes, zone: "a" } } } });
      const load = startLoad(gateway, 8, { connections: 4 });
      await waitForStatus(gateway, "traffic", (all) => all[0].totals.ok > 200);
      const before = await picksOf(gateway);
      expect(before[backends[1].address] + before[backends[2].address]).toBe(0);

      await backends[0].kill();
      await waitForStatus(gateway, "overflow", (all) => all[1].totals.ok > 100 && all[2].totals.ok > 100);
      expect(failures(await load.done)).toBe(0);
    }));

  it("take the class of a request from its header: vip to the idle node, strangers anywhere", () =>
    withKit("classes", async (kit) => {
      const backends = await kit.backends(2, { settings: { delay: { dist: "fixed", mean_ms: 2 } } });
      const backend = { strategy: "round_robin", class_source: "header:X-Class", trust_client_class: true };
      const gateway = await kit.gateway({ servers: backends, ax: { upstreams: { backend } } });
      // One node is held busy by requests that take long.
      await backends[0].set({ delay: { dist: "fixed", mean_ms: 15_000 } });
      const stuck = Array.from({ length: 4 }, () => gateway.get("/").catch(() => undefined));
      await waitForStatus(gateway, "a busy node", (all) => (all[0].in_flight ?? 0) >= 1);
      const before = (await nodesOf(gateway))[0].totals.picks;
      for (let k = 0; k < 20; k++) {
        expect((await gateway.get("/", { headers: { "X-Class": "vip" } })).status).toBe(200);
      }
      await waitForStatus(gateway, "the picks", (all) => all[1].totals.picks >= 20);
      expect((await nodesOf(gateway))[0].totals.picks).toBe(before);
      void gateway.get("/", { headers: { "X-Class": "x".repeat(2000) } }).catch(() => undefined);
      void gateway.get("/", { headers: { "X-Class": "vipp" } }).catch(() => undefined);
      await waitFor("strangers on the busy node", async () => (await nodesOf(gateway))[0].totals.picks > before);
      await backends[0].kill();
      await Promise.all(stuck);
    }));
});
