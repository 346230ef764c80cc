import { connect } from "node:net";
import { describe, expect, it } from "vitest";
import { http, runWrk, waitFor, withKit } from "../../ts-src/node/testkit";
import {
  failures,
  nodesOf,
  type NodeStatus,
  startLoad,
  statusOf,
  waitForIdle,
  waitForOutcomes,
  waitForStatus,
} from "./support";

// What is looked at here is where retries go; spec/e2e/limits.test.ts looks at how many there may be.
const NO_BUDGET = { retry_ratio: 100 };
const RETRY_500 = "proxy_next_upstream error timeout http_500;";

function addresses(header: unknown): string[] {
  return String(header).split(", ");
}

describe("retries", () => {
  it("never go to a node already tried while an untried one is left, and every try is accounted to its node", () =>
    withKit("retries", async (kit) => {
      const backends = await kit.backends(4, { settings: { error_share: 1, error_status: 500 } });
      const gateway = await kit.gateway({
        workers: 1,
        servers: backends,
        location: RETRY_500,
        ax: { upstreams: { backend: NO_BUDGET } },
      });
      for (let k = 0; k < 20; k++) {
        const answer = await gateway.get("/");
        expect(answer.status).toBe(500);
        const tried = addresses(answer.headers["x-upstream-addr"]);
        expect(new Set(tried).size).toBe(4);
        expect(tried).toHaveLength(4);
      }
      const nodes = (await waitForOutcomes(gateway, 80)).upstreams[0].nodes;
      for (const node of nodes)
        expect(node.totals).toEqual({ picks: 20, ok: 0, err: 20, fail: 0, aborted: 0, busy: 0 });
      for (const backend of backends) expect((await backend.counters()).requests).toBe(20);
      await waitForIdle(gateway);
    }));

  it("stop where proxy_next_upstream_tries says", () =>
    withKit("tries", async (kit) => {
      const backends = await kit.backends(4, { settings: { error_share: 1 } });
      const location = `${RETRY_500} proxy_next_upstream_tries 2;`;
      const gateway = await kit.gateway({ servers: backends, location });
      const answer = await gateway.get("/");
      expect(addresses(answer.headers["x-upstream-addr"])).toHaveLength(2);
    }));

  it("stop at max_tries", () =>
    withKit("max-tries", async (kit) => {
      const backends = await kit.backends(5, { settings: { error_share: 1 } });
      const ax = { upstreams: { backend: { max_tries: 3 } } };
      const gateway = await kit.gateway({ servers: backends, ax, location: RETRY_500 });
      const answer = await gateway.get("/");
      expect(answer.status).toBe(502);
      for (const backend of backends) expect((await backend.counters()).requests).toBeLessThanOrEqual(1);
      const nodes = (await waitForOutcomes(gateway, 3)).upstreams[0].nodes;
      expect(nodes.reduce((sum, node) => sum + node.totals.picks, 0)).toBe(3);
      await waitForIdle(gateway);
    }));

  it("reach every node of our own list, although the block has one server line", () =>
    withKit("own-list", async (kit) => {
      const backends = await kit.backends(3, { settings: { error_share: 1 } });
      const nodes = backends.map((backend, k) => ({ address: backend.address, name: `node-${k}` }));
      const ax = { upstreams: { backend: { nodes } } };
      const gateway = await kit.gateway({ servers: [backends[0]], ax, location: RETRY_500 });
      const tried = addresses((await gateway.get("/")).headers["x-upstream-addr"]);
      expect(new Set(tried).size).toBe(3);
      expect((await nodesOf(gateway)).map((node) => node.id)).toEqual(["node-0", "node-1", "node-2"]);
    }));

  it("in a fallback upstream are counted apart from those that led there", () =>
    withKit("fallback-tries", async (kit) => {
      const bad = await kit.backends(2, { settings: { error_share: 1 } });
      const good = await kit.backend();
      const gateway = await kit.gateway({
        servers: bad,
        ax: { upstreams: { backend: {}, spare: { max_tries: 2 } } },
        http: `upstream spare {
          server ${good.address};
          balancer_by_lua_block { require("resty.ax").balancer("spare") }
        }`,
        location: `${RETRY_500} proxy_intercept_errors on; error_page 500 = @spare;`,
        server: "location @spare { proxy_pass http://spare; }",
      });
      for (let k = 0; k < 5; k++) expect((await gateway.get("/")).status).toBe(200);
      expect((await good.counters()).requests).toBe(5);
      await waitForIdle(gateway);
    }));

  it("reach every node of our own list after an internal redirect too", () =>
    withKit("own-list-redirect", async (kit) => {
      const first = await kit.backend({ settings: { error_share: 1, error_status: 404 } });
      const bad = await kit.backends(3, { settings: { error_share: 1 } });
      const nodes = bad.map(({ address }) => ({ address }));
      const gateway = await kit.gateway({
        servers: [first],
        ax: { upstreams: { backend: {}, spare: { nodes } } },
        http: `upstream spare {
          server ${bad[0].address};
          balancer_by_lua_block { require("resty.ax").balancer("spare") }
        }`,
        location: "proxy_intercept_errors on; error_page 404 = @spare;",
        server: `location @spare {
          ${RETRY_500} proxy_pass http://spare;
          add_header X-Upstream-Addr $upstream_addr always;
        }`,
      });
      const tried = String((await gateway.get("/")).headers["x-upstream-addr"]).split(/, | : /);
      expect(new Set(tried).size).toBe(4);
    }));

  it("after an answer that redirects go to any node: its node is not one that failed", () =>
    withKit("redirect-back", async (kit) => {
      const primary = await kit.backend({ settings: { error_share: 1, error_status: 404 } });
      const backup = await kit.backend();
      const gateway = await kit.gateway({
        servers: [primary, `${backup.address} backup`],
        location: "proxy_intercept_errors on; error_page 404 = @again;",
        server: "location @again { proxy_pass http://backend; }",
      });
      for (let k = 0; k < 5; k++) expect((await gateway.get("/")).status).toBe(404);
      expect((await primary.counters()).requests).toBe(10);
      expect((await backup.counters()).requests).toBe(0);
      await primary.set({ error_status: 503 });
      await gateway.reload({ location: "proxy_intercept_errors on; error_page 503 = @again;" });
      expect((await gateway.get("/")).status).toBe(200);
    }));

  it("of an own list do not count nodes that are down", () =>
    withKit("own-list-down", async (kit) => {
      const backends = await kit.backends(3, { settings: { error_share: 1 } });
      const nodes = backends.map(({ address }, k) => ({ address, down: k > 0 }));
      const ax = { upstreams: { backend: { nodes } } };
      const gateway = await kit.gateway({ servers: [backends[0]], ax, location: RETRY_500 });
      expect(addresses((await gateway.get("/")).headers["x-upstream-addr"])).toHaveLength(1);
    }));

  it("are all accounted, however many", () =>
    withKit("many-tries", async (kit) => {
      const servers: string[] = [];
      // Nobody listens on port 1: refused at once.
      for (let k = 1; k <= 100; k++) servers.push(`127.77.0.${k}:1`);
      const gateway = await kit.gateway({ servers, ax: { upstreams: { backend: NO_BUDGET } } });
      expect(addresses((await gateway.get("/")).headers["x-upstream-addr"])).toHaveLength(100);
      const { nodes } = (await waitForOutcomes(gateway, 100)).upstreams[0];
      expect(nodes.reduce((sum, { totals }) => sum + totals.fail, 0)).toBe(100);
    }));

  it("are not made for a POST that reached a node", () =>
    withKit("post", async (kit) => {
      const backends = await kit.backends(3, { settings: { error_share: 1 } });
      const gateway = await kit.gateway({ servers: backends, location: RETRY_500 });
      const answer = await gateway.get("/", { method: "POST", body: "x" });
      expect(answer.status).toBe(500);
      expect(addresses(answer.headers["x-upstream-addr"])).toHaveLength(1);
    }));
});

describe("outcomes", () => {
  it("a 4xx is a success of the node, a time-out its failure", () =>
    withKit("outcomes", async (kit) => {
      const [good, hanging] = [
        await kit.backend({ settings: { error_share: 1, error_status: 404 } }),
        await kit.backend({ settings: { hang_share: 1 } }),
      ];
      const ax = { upstreams: { backend: { strategy: "round_robin" } } };
      const location = "proxy_read_timeout 200ms; proxy_next_upstream off;";
      const gateway = await kit.gateway({ servers: [good, hanging], ax, location });
      for (let k = 0; k < 4; k++) expect([404, 504]).toContain((await gateway.get("/")).status);
      const nodes = (await waitForOutcomes(gateway, 4)).upstreams[0].nodes;
      expect(nodes[0].totals).toMatchObject({ ok: 2, err: 0, fail: 0 });
      expect(nodes[1].totals).toMatchObject({ ok: 0, err: 0, fail: 2 });
    }));

  it("a client that hangs up holds nothing against the node and leaves nothing in flight", () =>
    withKit("abort", async (kit) => {
      const backend = await kit.backend({ settings: { delay: { dist: "fixed", mean_ms: 30_000 } } });
      const gateway = await kit.gateway({ servers: [backend] });
      for (let k = 0; k < 5; k++) {
        const socket = connect(gateway.port, "127.0.0.1");
        socket.write("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
        await waitFor("the request at the node", async () => (await backend.counters()).requests === k + 1);
        socket.destroy();
      }
      const node = (await waitForOutcomes(gateway, 5)).upstreams[0].nodes[0];
      expect(node.totals).toEqual({ picks: 5, ok: 0, err: 0, fail: 0, aborted: 5, busy: 0 });
      expect(node.state).toBe("online");
      await waitForIdle(gateway);
    }));

  it("a slow client does not make the node look slow", () =>
    withKit("slow-client", async (kit) => {
      const backend = await kit.backend({
        settings: { body_bytes: 200_000, body_chunks: 20, body_interval_ms: 50 },
      });
      const gateway = await kit.gateway({ servers: [backend] });
      await gateway.get("/");
      const node = (await waitForOutcomes(gateway, 1)).upstreams[0].nodes[0];
      expect(node.totals.ok).toBe(1);
      // The body takes a second; the first byte came at once.
      expect(node.p99_ms!).toBeLessThan(500);
    }));

  it("open streams do not make their nodes look hung", () =>
    withKit("streams", async (kit) => {
      const backends = await kit.backends(3, { settings: { delay: { dist: "fixed", mean_ms: 3 } } });
      const gateway = await kit.gateway({ workers: 1, servers: backends });
      await Promise.all(Array.from({ length: 30 }, () => gateway.get("/")));
      const [streaming] = backends;
      // Only requests sent while it is set so are streams: the first of them on each node in turn.
      const stream = { body_bytes: 30_000, body_chunks: 300, body_interval_ms: 100 };
      await streaming.set(stream);
      const open: ReturnType<typeof connect>[] = [];
      // Begun, not only sent: until its first bytes come, what is set decides.
      let begun = false;
      await waitFor("a stream on the node", () => {
        const socket = connect(gateway.port, "127.0.0.1");
        socket.on("error", () => undefined);
        socket.on("data", (data) => {
          if (data.toString("latin1").includes(`X-Backend: ${streaming.name}`)) begun = true;
        });
        socket.write("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
        open.push(socket);
        return begun;
      });
      await streaming.set({ body_bytes: 0, body_interval_ms: 0 });
      await streaming.resetCounters();
      const load = startLoad(gateway, 12, { connections: 4 });
      const has_share = (nodes: NodeStatus[]): boolean => nodes[1].totals.ok > 1000 && (nodes[0].share ?? 0) > 0.2;
      await waitForStatus(gateway, "its share", has_share, 20_000);
      expect((await streaming.counters()).active).toBeGreaterThan(0);
      for (const socket of open) socket.destroy();
      await load.done;
      await waitForIdle(gateway);
    }));

  it("an upgraded connection counts as in flight while it is open, and as a success", () =>
    withKit("upgrade", async (kit) => {
      const backend = await kit.backend();
      const location = "proxy_set_header Upgrade $http_upgrade; proxy_set_header Connection upgrade;";
      const gateway = await kit.gateway({ servers: [backend], location });
      const socket = connect(gateway.port, "127.0.0.1");
      socket.write("GET / HTTP/1.1\r\nHost: x\r\nUpgrade: echo\r\nConnection: upgrade\r\n\r\n");
      await waitForStatus(gateway, "it in flight", (nodes) => nodes[0].in_flight === 1);
      socket.destroy();
      await waitForIdle(gateway);
      const node = (await waitForOutcomes(gateway, 1)).upstreams[0].nodes[0];
      expect(node.totals.ok + node.totals.aborted).toBe(1);
      expect(node.totals.fail).toBe(0);
    }));

  it("an internal redirect to another upstream accounts both tries to their nodes", () =>
    withKit("redirect", async (kit) => {
      const first = await kit.backend({ settings: { error_share: 1, error_status: 503 } });
      const second = await kit.backend();
      const gateway = await kit.gateway({
        servers: [first],
        ax: { upstreams: { backend: {}, spare: {} } },
        http: `upstream spare {
          server ${second.address};
          balancer_by_lua_block { require("resty.ax").balancer("spare") }
        }`,
        location: "proxy_next_upstream off; proxy_intercept_errors on; error_page 503 = @spare;",
        server: "location @spare { proxy_pass http://spare; }",
      });
      for (let k = 0; k < 10; k++) expect((await gateway.get("/")).status).toBe(200);
      const status = await waitForStatus(gateway, "all outcomes", (_, { upstreams }) =>
        upstreams.every((upstream) => upstream.nodes[0].totals.ok + upstream.nodes[0].totals.err === 10),
      );
      const [backend, spare] = status.upstreams;
      expect(backend.nodes[0].totals).toMatchObject({ ok: 0, err: 10 });
      expect(spare.nodes[0].totals).toMatchObject({ ok: 10, err: 0 });
      await waitForIdle(gateway);
    }));

  it("a subrequest is accounted like any request where log_subrequest is on", () =>
    withKit("subrequest", async (kit) => {
      const backend = await kit.backend();
      const server = `location /guarded { auth_request /check; content_by_lua_block { ngx.exit(204) } }
        location /check { internal; proxy_pass http://backend; }`;
      const gateway = await kit.gateway({ servers: [backend], server, http: "log_subrequest on;" });
      for (let k = 0; k < 10; k++) expect((await gateway.get("/guarded")).status).toBe(204);
      const node = (await waitForOutcomes(gateway, 10)).upstreams[0].nodes[0];
      expect(node.totals).toEqual({ picks: 10, ok: 10, err: 0, fail: 0, aborted: 0, busy: 0 });
      await waitForIdle(gateway);
    }));

  it("subrequests leave nothing in flight where log_subrequest is off", () =>
    withKit("subrequests-unlogged", async (kit) => {
      const backends = await kit.backends(3);
      const gateway = await kit.gateway({
        servers: backends,
        server: `location /guarded { auth_request /check; mirror /copy; proxy_pass http://backend/; }
          location /check { internal; proxy_pass http://backend/; }
          location /copy { internal; proxy_pass http://backend/; }
          location /fetch { content_by_lua_block {
            ngx.location.capture_multi({ { "/part" }, { "/part" } }) ngx.exit(204)
          } }
          location /part { proxy_pass http://backend/; }`,
      });
      const load = await runWrk({ url: `${gateway.url}/guarded`, connections: 20, duration_s: 1 });
      expect(failures(load)).toBe(0);
      for (let k = 0; k < 20; k++) expect((await gateway.get("/fetch")).status).toBe(204);
      await waitForIdle(gateway);
    }));

  it("an upstream whose location has a log_by_lua of its own is reported", () =>
    withKit("log-missing", async (kit) => {
      const backend = await kit.backend();
      const gateway = await kit.gateway({ servers: [backend], location: "log_by_lua_block { }" });
      for (let k = 0; k < 250; k++) await http(`${gateway.url}/`);
      const status = await waitForStatus(gateway, "the fault", (_, { faults }) => faults["log_missing"] !== undefined);
      expect(status.faults["log_missing"].last_message).toContain("log_by_lua");
    }));

  it("an upstream of which one location has a log_by_lua of its own is reported too", () =>
    withKit("log-partly-missing", async (kit) => {
      const gateway = await kit.gateway({
        servers: [await kit.backend()],
        server: "location /own { log_by_lua_block { } proxy_pass http://backend/; }",
      });
      for (let k = 0; k < 10; k++) {
        expect((await gateway.get("/")).status).toBe(200);
        expect((await gateway.get("/own")).status).toBe(200);
      }
      const status = await waitForStatus(gateway, "the fault", (_, { faults }) => faults["log_missing"] !== undefined);
      expect(status.faults["log_missing"].last_message).toContain("some of");
    }));
});

describe("the collector", () => {
  it("pauses between portions of many nodes, and nginx has nothing to say against it", () =>
    withKit("pauses", async (kit) => {
      const nodes = Array.from({ length: 500 }, (_, k) => ({ address: `127.0.0.1:${k + 1}`, down: k > 0 }));
      const gateway = await kit.gateway({ ax: { upstreams: { backend: { nodes } } }, servers: ["127.0.0.1:1"] });
      await waitForStatus(gateway, "five rounds", (_, { upstreams }) => upstreams[0].generation >= 5);
      expect(gateway.errorLog()).not.toContain("[warn]");
    }));
});

describe("the status", () => {
  it("shows every node from the start, and says why there are no figures yet", () =>
    withKit("fresh", async (kit) => {
      const backends = await kit.backends(2);
      const gateway = await kit.gateway({ servers: [backends[0], `${backends[1].address} down`] });
      const status = await statusOf(gateway);
      const nodes = status.upstreams[0].nodes;
      expect(nodes.map((node) => node.id)).toEqual(backends.map((backend) => backend.address));
      expect(nodes[1].state).toBe("offline");
      for (const node of nodes) expect(node.reason).not.toBe("");
    }));

  it("answers unknown paths, names and methods with an error document", () =>
    withKit("errors", async (kit) => {
      const gateway = await kit.gateway({
        servers: [await kit.backend()],
        server: 'location /api/v1/balancers/ { content_by_lua_block { require("resty.ax").api() } }',
      });
      const ask = async (path: string, method = "GET"): Promise<[number, string]> => {
        const answer = await gateway.get(path, { method });
        return [answer.status, (JSON.parse(answer.text) as { error: { code: string } }).error.code];
      };
      expect(await ask("/ax/v1/nothing")).toEqual([404, "PathNotFound"]);
      expect(await ask("/ax/v1/upstreams/nothing")).toEqual([404, "UpstreamNotFound"]);
      expect(await ask("/ax/v1/upstreams", "DELETE")).toEqual([405, "MethodNotAllowed"]);
      expect((await gateway.get("/ax/v1/upstreams/backend")).status).toBe(200);
      expect((await gateway.get("/api/v1/balancers/v1/upstreams/backend")).status).toBe(200);
      for (const path of ["/ax/v1/upstreams/%0a", "/ax/v1/upstreams/a%2fb", "/ax/v1/upstreams/%22%3cx%3e", "/ax/"]) {
        expect((await ask(path))[0]).toBe(404);
      }
    }));
});
