import { describe, expect, it } from "vitest";
import { type Backend, type Gateway, type GatewayOptions, type Kit, waitFor, withKit } from "../../ts-src/node/testkit";
import { statusOf } from "./support";

/**
 * Nodes that fail alike: whatever is ejected, held back, denied or refused then, a request that nginx's own round robin
 * would have served must not be lost. nginx tries every node before it gives a request up, so that must be seen here of
 * every request that failed.
 */
const NODES = 6;
const RETRY_ALL = "proxy_next_upstream error timeout http_500 http_503 http_429;";
const QUEUE: Partial<GatewayOptions> = {
  access: true,
  ax: {
    upstreams: {
      backend: { max_concurrency_per_node: 50, max_overflow_ratio: 1, queue: { size: 200, timeout_ms: 5000 } },
    },
  },
};

interface Retries {
  made: number;
  denied: number;
}

async function retriesOf(gateway: Gateway): Promise<Retries> {
  return ((await statusOf(gateway)).upstreams[0] as unknown as { limits: { retries: Retries } }).limits.retries;
}

interface Seen {
  good: number;
  failed: number;
  /** Failed without having been at every node. */
  given_up: string[];
}

/** Sends requests, `side_by_side` at a time, and looks at what became of them. */
async function send(gateway: Gateway, count: number, side_by_side = 8): Promise<Seen> {
  const seen: Seen = { good: 0, failed: 0, given_up: [] };
  let sent = 0;
  const client = async (): Promise<void> => {
    while (sent < count) {
      sent++;
      const answer = await gateway.get("/");
      const tried = new Set(String(answer.headers["x-upstream-addr"]).split(", "));
      if (answer.status === 200) seen.good++;
      else seen.failed++;
      if (answer.status !== 200 && tried.size < NODES) seen.given_up.push(`${answer.status} after ${tried.size}`);
    }
  };
  await Promise.all(Array.from({ length: side_by_side }, client));
  return seen;
}

async function start(kit: Kit, options: Partial<GatewayOptions> = {}): Promise<[Backend[], Gateway]> {
  const backends = await kit.backends(NODES, { settings: { delay: { dist: "fixed", mean_ms: 1 } } });
  const gateway = await kit.gateway({ workers: 2, servers: backends, location: RETRY_ALL, ...options });
  return [backends, gateway];
}

describe("nodes that all fail alike", () => {
  it.each([
    ["0.3 after service", { error_share: 0.3 }, {}],
    ["0.6 after service", { error_share: 0.6 }, {}],
    ["0.6 at once", { error_share: 0.6, error_delay_ms: 0 }, {}],
    ["0.6 after service, with a queue", { error_share: 0.6 }, QUEUE],
    ["0.9 at once, with a queue", { error_share: 0.9, error_delay_ms: 0 }, QUEUE],
    ["0.6 with 429", { error_share: 0.6, error_status: 429 }, {}],
    ["0.6 without an answer", { error_share: 0.6, error_status: 444 }, {}],
  ])("are each tried before a request is given up: %s", (_, fault, options) =>
    withKit("fail-alike", async (kit) => {
      const [backends, gateway] = await start(kit, options);
      await Promise.all(backends.map((backend) => backend.set(fault)));
      const { given_up } = await send(gateway, 600);
      expect(given_up).toEqual([]);
      expect(await retriesOf(gateway)).toMatchObject({ denied: 0 });
    }),
  );

  it("and half of which are dead, lose no request that an untried node might have served", () =>
    withKit("half-dead", async (kit) => {
      const [backends, gateway] = await start(kit);
      await Promise.all(backends.slice(0, 3).map((backend) => backend.kill()));
      await Promise.all(backends.slice(3).map((backend) => backend.set({ error_share: 0.3 })));
      const { given_up } = await send(gateway, 600);
      expect(given_up).toEqual([]);
    }));

  it("and are all dead, get only what the retry budget allows; the first one that is back is enough", () =>
    withKit("all-dead-alike", async (kit) => {
      const [backends, gateway] = await start(kit);
      await Promise.all(backends.map((backend) => backend.kill()));
      await waitFor("the budget to be spent", async () => {
        await send(gateway, 200);
        return (await retriesOf(gateway)).denied > 100;
      });
      await backends[0].restart();
      await waitFor("an answer", async () => (await gateway.get("/")).status === 200);
      await waitFor("nothing to fail any more", async () => (await send(gateway, 100)).failed === 0);
    }));
});
