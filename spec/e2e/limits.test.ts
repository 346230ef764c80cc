import { describe, expect, it } from "vitest";
import { type Backend, type Gateway, runWrk, waitFor, withKit } from "../../ts-src/node/testkit";
import { statusOf, waitForIdle, waitForStatus } from "./support";

const SLOW = { settings: { delay: { dist: "fixed", mean_ms: 20 } } } as const;

interface Limits {
  leased: number;
  rejected: { overloaded: number };
  retries: { made: number; denied: number; late: number };
}

async function limitsOf(gateway: Gateway): Promise<Limits> {
  return ((await statusOf(gateway)).upstreams[0] as unknown as { limits: Limits }).limits;
}

async function most(backends: Backend[]): Promise<number[]> {
  return Promise.all(backends.map(async (backend) => (await backend.counters()).max_active));
}

/** All slots are back: none leaked. Idle leases go back after a second. */
async function waitForNoLease(gateway: Gateway): Promise<void> {
  await waitForIdle(gateway);
  await waitFor("every slot to be back", async () => (await limitsOf(gateway)).leased === 0);
}

describe("concurrency limits on real nginx", () => {
  it.each([1, 2, 8])("are never exceeded, with %i workers", (workers) =>
    withKit("limits", async (kit) => {
      const backends = await kit.backends(2, SLOW);
      const backend = { max_concurrency_per_node: 10, max_overflow_ratio: 0.2 };
      const gateway = await kit.gateway({ workers, servers: backends, ax: { upstreams: { backend } } });
      const load = await runWrk({ url: `${gateway.url}/`, connections: 64, duration_s: 3 });
      expect(load.requests).toBeGreaterThan(100);
      const seen = await most(backends);
      for (const count of seen) expect(count).toBeLessThanOrEqual(12);
      // The limit is used, too.
      expect(Math.max(...seen)).toBeGreaterThanOrEqual(10);
      expect(load.errors.status).toBeGreaterThan(0);
      expect((await gateway.get("/")).status).toBe(200);
      await waitForNoLease(gateway);
      await waitFor("the refusals", async () => (await limitsOf(gateway)).rejected.overloaded >= load.errors.status);
    }),
  );

  it("max_conns of server lines is never exceeded, and what exceeds it gets nginx's own 502", () =>
    withKit("max-conns", async (kit) => {
      const backends = await kit.backends(2, SLOW);
      const gateway = await kit.gateway({ workers: 2, servers: backends, server_params: "max_conns=4" });
      await runWrk({ url: `${gateway.url}/`, connections: 32, duration_s: 2 });
      for (const count of await most(backends)) expect(count).toBeLessThanOrEqual(4);
      const statuses = new Set<number>();
      await Promise.all(
        Array.from({ length: 40 }, async () => {
          statuses.add((await gateway.get("/")).status);
        }),
      );
      expect([...statuses].sort()).toEqual([200, 502]);
      await waitForNoLease(gateway);
    }));

  it("a worker killed under load leaves no slot taken for long, and its limit holds all the while", () =>
    withKit("killed-worker", async (kit) => {
      const backends = await kit.backends(2, { settings: { delay: { dist: "fixed", mean_ms: 100 } } });
      const backend = { max_concurrency_per_node: 10, max_overflow_ratio: 0 };
      const gateway = await kit.gateway({ workers: 2, servers: backends, ax: { upstreams: { backend } } });
      for (let k = 0; k < 3; k++) {
        const load = runWrk({ url: `${gateway.url}/`, connections: 64, duration_s: 6 });
        await waitForStatus(gateway, "busy nodes", (nodes) => nodes.every((node) => (node.in_flight ?? 0) >= 5));
        const pids = gateway.workerPids();
        await gateway.killWorker(pids[0]);
        await load;
      }
      // The backend goes on with what a killed worker had sent until it sees the connection closed: at once.
      for (const count of await most(backends)) expect(count).toBeLessThanOrEqual(10);
      await waitForNoLease(gateway);
    }));

  it("clients that hang up and internal redirects leave no slot taken", () =>
    withKit("no-leak", async (kit) => {
      const backends = await kit.backends(2, SLOW);
      const backend = { max_concurrency_per_node: 4, max_overflow_ratio: 0 };
      const gateway = await kit.gateway({
        workers: 2,
        servers: backends,
        ax: { upstreams: { backend } },
        location: "proxy_intercept_errors on; error_page 500 = @again;",
        server: "location @again { proxy_pass http://backend; }",
      });
      for (let k = 0; k < 20; k++) {
        await gateway.get("/", { timeout_ms: 5 }).catch(() => undefined);
      }
      await backends[0].set({ error_share: 1 });
      for (let k = 0; k < 20; k++) await gateway.get("/");
      await waitForNoLease(gateway);
    }));

  it("a reload keeps them: old and new workers count together", () =>
    withKit("reload-limits", async (kit) => {
      const backends = await kit.backends(1, { settings: { delay: { dist: "fixed", mean_ms: 300 } } });
      const backend = { max_concurrency_per_node: 6, max_overflow_ratio: 0 };
      const gateway = await kit.gateway({ workers: 2, servers: backends, ax: { upstreams: { backend } } });
      const load = runWrk({
        url: `${gateway.url}/`,
        connections: 24,
        duration_s: 4,
        headers: { Connection: "close" },
      });
      for (let k = 0; k < 3; k++) await gateway.reload();
      await load;
      expect((await most(backends))[0]).toBeLessThanOrEqual(6);
      await waitForNoLease(gateway);
    }));
});

describe("the rate limit on real nginx", () => {
  it("takes one token for a request, however many locations with access() it comes to", () =>
    withKit("one-token", async (kit) => {
      const backends = await kit.backends(2, { settings: { delay: { dist: "fixed", mean_ms: 3000 } } });
      const [busy, spare] = backends;
      await spare.set({ delay: { dist: "fixed", mean_ms: 0 } });
      const gateway = await kit.gateway({
        servers: [busy],
        // 16 at once at least, and one a second after that.
        ax: {
          global_qps_limit: 1,
          global_qps_burst: 20,
          upstreams: { backend: { max_concurrency_per_node: 1, max_overflow_ratio: 0 }, spare: {} },
        },
        http: `upstream spare {
          server ${spare.address};
          balancer_by_lua_block { require("resty.ax").balancer("spare") }
        }`,
        server: `location @spare {
          access_by_lua_block { require("resty.ax").access("spare") }
          proxy_pass http://spare;
        }`,
        location: "error_page 503 = @spare;",
        access: true,
      });
      const first = gateway.get("/");
      await waitFor("a full node", async () => (await busy.counters()).active === 1);
      const statuses: number[] = [];
      for (let k = 0; k < 12; k++) statuses.push((await gateway.get("/")).status);
      expect(statuses).toEqual(Array.from({ length: 12 }, () => 200));
      // And no way around the limit: what it has refused is asked for a token wherever it comes.
      await waitFor("the last token", async () => (await gateway.get("/")).status === 503);
      for (let k = 0; k < 20; k++) statuses.push((await gateway.get("/")).status);
      expect(statuses.filter((status) => status === 503).length).toBeGreaterThan(10);
      expect((await first).status).toBe(200);
      await waitForIdle(gateway);
    }));
});

describe("the retry budget on real nginx", () => {
  it("bounds retries when every node fails", () =>
    withKit("retry-budget", async (kit) => {
      const backends = await kit.backends(4, { settings: { error_share: 1 } });
      const backend = { retry_ratio: 0.2, retry_min_per_s: 1, eject_error_rate: 1 };
      const gateway = await kit.gateway({
        servers: backends,
        ax: { upstreams: { backend } },
        location: "proxy_next_upstream error timeout http_500;",
      });
      for (let k = 0; k < 200; k++) expect([500, 502]).toContain((await gateway.get("/")).status);
      const { retries } = (await waitForStatus(
        gateway,
        "the counts",
        (_, status) => (status.upstreams[0] as unknown as { limits: Limits }).limits.retries.denied > 0,
      ).then(() => limitsOf(gateway))) satisfies Limits;
      expect(retries.made).toBeLessThanOrEqual(200 * 0.2 + 10);
      const counters = await Promise.all(backends.map((each) => each.counters()));
      expect(counters.reduce((sum, { requests }) => sum + requests, 0)).toBeLessThanOrEqual(200 + 200 * 0.2 + 10);
    }));

  it("leaves it to nginx which requests are retried: a POST is not", () =>
    withKit("post", async (kit) => {
      const backends = await kit.backends(3, { settings: { error_share: 1 } });
      const gateway = await kit.gateway({
        servers: backends,
        location: "proxy_next_upstream error timeout http_500;",
      });
      const answer = await gateway.get("/", { method: "POST" });
      expect(String(answer.headers["x-upstream-addr"]).split(", ")).toHaveLength(1);
      expect(String((await gateway.get("/")).headers["x-upstream-addr"]).split(", ")).toHaveLength(3);
    }));
});

describe("the gateway's rate on real nginx", () => {
  it.each([1, 4])("is exact over %i workers, and what exceeds it is refused at the door", (workers) =>
    withKit("rate", async (kit) => {
      const backends = await kit.backends(2);
      const ax = { upstreams: { backend: {} }, global_qps_limit: 200, global_qps_burst: 20 };
      const gateway = await kit.gateway({ workers, servers: backends, ax, access: true });
      const begin_ms = performance.now();
      const load = await runWrk({ url: `${gateway.url}/`, connections: 16, duration_s: 3 });
      const elapsed_s = (performance.now() - begin_ms) / 1000;
      expect(load.errors.status).toBeGreaterThan(0);
      const counters = await Promise.all(backends.map((backend) => backend.counters()));
      const served = counters.reduce((sum, { requests }) => sum + requests, 0);
      expect(served).toBeLessThanOrEqual(20 + 200 * elapsed_s);
      expect(served).toBeGreaterThan(200);
      const answers = await Promise.all(Array.from({ length: 100 }, () => gateway.get("/")));
      const refused = answers.filter((answer) => answer.status === 503);
      expect(refused.length).toBeGreaterThan(0);
      expect(refused[0].headers["x-ax-reject"]).toBe("qps");
    }),
  );
});
