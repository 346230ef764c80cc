import { connect, type Socket } from "node:net";
import { describe, expect, it } from "vitest";
import { type Backend, type Gateway, runWrk, waitFor, withKit } from "../../ts-src/node/testkit";
import { statusOf, waitForIdle } from "./support";

const LIMIT = 8;
const OVERFLOW = 0.25;

async function leased(gateway: Gateway): Promise<number> {
  return ((await statusOf(gateway)).upstreams[0] as unknown as { limits: { leased: number } }).limits.leased;
}

async function waitForNoLease(gateway: Gateway): Promise<void> {
  await waitForIdle(gateway);
  await waitFor("every slot to be back", async () => (await leased(gateway)) === 0);
}

async function most(backend: Backend): Promise<number> {
  return (await backend.counters()).max_active;
}

/** An upgraded connection, once the answer has come. */
function upgrade(gateway: Gateway): Promise<Socket | undefined> {
  return new Promise((resolve) => {
    const socket = connect(gateway.port, "127.0.0.1", () => {
      socket.write("GET /ws HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n");
    });
    socket.once("error", () => resolve(undefined));
    socket.once("close", () => resolve(undefined));
    socket.once("data", (data) => resolve(String(data).startsWith("HTTP/1.1 101 ") ? socket : undefined));
  });
}

const UPGRADES = `
  location /ws {
    proxy_pass http://backend;
    proxy_http_version 1.1;
    proxy_set_header Connection "upgrade";
    proxy_set_header Upgrade $http_upgrade;
  }`;

describe.each([1, 2, 8])("slots with %i workers", (workers) => {
  it("are never exceeded while clients hang up, requests are redirected, and a worker is killed; and all come back", () =>
    withKit(`leak-${workers}`, async (kit) => {
      const [backend] = await kit.backends(1, { settings: { delay: { dist: "exp", mean_ms: 20 }, error_share: 0.2 } });
      const options = { max_concurrency_per_node: LIMIT, max_overflow_ratio: OVERFLOW, eject_error_rate: 1 };
      const gateway = await kit.gateway({
        workers,
        servers: [backend],
        server_params: "max_fails=0",
        ax: { upstreams: { backend: options } },
        location: "proxy_intercept_errors on; error_page 500 = @again;",
        server: `location @again { proxy_pass http://backend; }${UPGRADES}`,
      });
      const load = runWrk({ url: `${gateway.url}/`, connections: 48, duration_s: 4 });
      await waitFor("a full node", async () => (await most(backend)) >= LIMIT);
      for (let k = 0; k < 100; k++) await gateway.get("/", { timeout_ms: 8 }).catch(() => undefined);
      expect(await most(backend)).toBeLessThanOrEqual(LIMIT * (1 + OVERFLOW));
      await backend.resetCounters();
      await gateway.killWorker(gateway.workerPids()[0]);
      await load;
      expect(await most(backend)).toBeLessThanOrEqual(LIMIT * (1 + OVERFLOW));
      await waitForNoLease(gateway);
      expect((await statusOf(gateway)).faults).toEqual({});
    }));

  it("are held by upgraded connections for as long as these last", () =>
    withKit(`upgrades-${workers}`, async (kit) => {
      const [backend] = await kit.backends(1);
      const options = { max_concurrency_per_node: LIMIT, max_overflow_ratio: 0 };
      const gateway = await kit.gateway({
        workers,
        servers: [backend],
        ax: { upstreams: { backend: options } },
        server: UPGRADES,
      });
      const open: Socket[] = [];
      await waitFor("as many connections as there may be", async () => {
        const socket = await upgrade(gateway);
        if (socket !== undefined) open.push(socket);
        return open.length === LIMIT;
      });
      for (let k = 0; k < 10; k++) expect(await upgrade(gateway)).toBeUndefined();
      expect((await gateway.get("/")).status).toBe(502);
      open[0].destroy();
      await waitFor("a place", async () => (await gateway.get("/")).status === 200);
      for (const socket of open) socket.destroy();
      await waitForNoLease(gateway);
      expect((await backend.counters()).max_active).toBeLessThanOrEqual(LIMIT);
    }));
});
