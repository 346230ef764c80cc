import { Agent } from "node:http";
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { withKit } from "../../ts-src/node/testkit";
import { waitForIdle } from "./support";

const TIME_WAIT = "06";

/** Connections to a port of this machine that have been closed and still take up a local port, as the kernel lists them. */
function timeWaitTo(port: number): number {
  const hex = port.toString(16).toUpperCase().padStart(4, "0");
  const lines = readFileSync("/proc/net/tcp", "utf8").split("\n");
  return lines.filter((line) => {
    const [, local, remote, state] = line.trim().split(/\s+/);
    return state === TIME_WAIT && (remote?.endsWith(`:${hex}`) || local?.endsWith(`:${hex}`));
  }).length;
}

describe("connections to the nodes", () => {
  it("are reused under limits, also when most requests wait: as many as places, and none left in TIME_WAIT", () =>
    withKit("connections", async (kit) => {
      const places = 4;
      const requests = 600;
      const backends = await kit.backends(1, { settings: { delay: { dist: "fixed", mean_ms: 2 } } });
      const nodes = backends.map(({ address }) => ({ address, max_conns: places }));
      const ax = { upstreams: { backend: { nodes, queue: { size: 1000, timeout_ms: 60_000 } } } };
      const gateway = await kit.gateway({ servers: backends, ax, access: true });
      const agent = new Agent({ keepAlive: true });
      const answers = await Promise.all(
        Array.from({ length: requests }, () => gateway.get("/", { agent, timeout_ms: 60_000 })),
      );
      expect(answers.filter((answer) => answer.status !== 200)).toEqual([]);
      await waitForIdle(gateway);
      const counters = await backends[0].counters();
      expect(counters.requests).toBe(requests);
      expect(counters.max_active).toBeLessThanOrEqual(places);
      expect(counters.connections).toBeLessThanOrEqual(places);
      expect(timeWaitTo(backends[0].port)).toBe(0);
      agent.destroy();
    }));

  it("are kept from Lua where nginx can do that; elsewhere the start says that it cannot, and requests are served", () =>
    withKit("lua-keepalive", async (kit) => {
      const backends = await kit.backends(2);
      const ax = { upstreams: { backend: { lua_keepalive: {} } } };
      const gateway = await kit.gateway({ servers: backends, ax, keepalive: 0 });
      const is_unknown = gateway.errorLog().includes("has no balancer.enable_keepalive (0.1.29 has)");
      for (let k = 0; k < 50; k++) expect((await gateway.get("/")).status).toBe(200);
      const counters = await Promise.all(backends.map((backend) => backend.counters()));
      const opened = counters.reduce((sum, { connections }) => sum + connections, 0);
      if (is_unknown) expect(opened).toBe(50);
      else expect(opened).toBeLessThanOrEqual(2);
      await waitForIdle(gateway);
    }));
});
