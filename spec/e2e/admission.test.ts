import { Agent } from "node:http";
import { connect, type Socket } from "node:net";
import { describe, expect, it } from "vitest";
import type { Backend, Gateway, HttpAnswer } from "../../ts-src/node/testkit";
import { waitFor, withKit } from "../../ts-src/node/testkit";
import { statusOf, waitForIdle, waitForStatus } from "./support";

/** An upstream whose nodes take `limit` requests at a time, each. */
function upstream(backends: Backend[], limit: number, more: object = {}): unknown {
  const nodes = backends.map(({ address }) => ({ address, max_conns: limit }));
  return { upstreams: { backend: { nodes, class_source: "header:X-Class", trust_client_class: true, ...more } } };
}

interface Admission {
  queue?: { waiting: number; priorities: { priority: number; waiting: number; admitted: number }[] };
  refused: Record<string, number>;
  unknown_classes: number;
  capped_classes: number;
}

async function admissionOf(gateway: Gateway): Promise<Admission> {
  return (await statusOf(gateway)).upstreams[0].admission as Admission;
}

function waitForWaiting(gateway: Gateway, count: number): Promise<unknown> {
  return waitFor(`${count} waiting`, async () => (await admissionOf(gateway)).queue?.waiting === count);
}

/** A request whose connection can be dropped at any time. */
function rawRequest(gateway: Gateway): Socket {
  const socket = connect(gateway.port, "127.0.0.1");
  socket.on("error", () => undefined);
  socket.write("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  return socket;
}

const ABORT = "lua_check_client_abort on;";

function reasonOf(answer: HttpAnswer): string {
  return `${answer.status} ${String(answer.headers["x-ax-reject"] ?? "")}`.trim();
}

async function expectNoFaults(gateway: Gateway): Promise<void> {
  await waitForIdle(gateway);
  expect((await statusOf(gateway)).faults).toEqual({});
}

describe("access() on real nginx", () => {
  it("refuses at once with a reason when every node is full and there is no queue", () =>
    withKit("door", async (kit) => {
      const backends = await kit.backends(1, { settings: { delay: { dist: "fixed", mean_ms: 1500 } } });
      const gateway = await kit.gateway({ servers: backends, ax: upstream(backends, 2), access: true });
      const served = [gateway.get("/"), gateway.get("/")];
      await waitFor("a full node", async () => (await backends[0].counters()).active === 2);
      const refused = await gateway.get("/");
      expect(reasonOf(refused)).toBe("503 overloaded");
      expect(refused.headers["retry-after"]).toBe("1");
      expect((await backends[0].counters()).active).toBe(2);
      expect((await Promise.all(served)).map((answer) => answer.status)).toEqual([200, 200]);
      await waitForIdle(gateway);
      expect((await gateway.get("/")).status).toBe(200);
      await waitForStatus(gateway, "the refusal", (_, status) => {
        return (status.upstreams[0].admission as Admission).refused["overloaded"] === 1;
      });
      await expectNoFaults(gateway);
    }));

  it("lets requests wait, by class, and hands each place over in order", () =>
    withKit("line", async (kit) => {
      const backends = await kit.backends(1, { settings: { delay: { dist: "fixed", mean_ms: 100 } } });
      const ax = upstream(backends, 1, { queue: { size: 100 } });
      const gateway = await kit.gateway({ servers: backends, ax, access: true });
      await backends[0].set({ delay: { dist: "fixed", mean_ms: 3000 } });
      const order: string[] = [];
      const send = (name: string): Promise<void> =>
        gateway.get("/", { headers: { "X-Class": name } }).then((answer) => {
          expect(answer.status).toBe(200);
          order.push(name);
        });
      const all = [send("normal")];
      await waitFor("a full node", async () => (await backends[0].counters()).active === 1);
      await backends[0].set({ delay: { dist: "fixed", mean_ms: 20 } });
      for (let k = 0; k < 5; k++) all.push(send("batch"), send("normal"), send("vip"));
      await waitForWaiting(gateway, 15);
      await Promise.all(all);
      expect((await backends[0].counters()).max_active).toBe(1);
      const expected = ["normal", "vip", "normal", "batch"].flatMap((name, k) =>
        Array<string>(k === 0 ? 1 : 5).fill(name),
      );
      expect(order).toEqual(expected);
      await expectNoFaults(gateway);
    }));

  it("refuses when the queue is full or its time is over, and takes a client's deadline", () =>
    withKit("limits", async (kit) => {
      const backends = await kit.backends(1, { settings: { delay: { dist: "fixed", mean_ms: 4000 } } });
      const queue = { size: 2, timeout_ms: 1000, class_sizes: { batch: 0 }, deadline_header: "X-Timeout-Ms" };
      const gateway = await kit.gateway({ servers: backends, ax: upstream(backends, 1, { queue }), access: true });
      const served = gateway.get("/");
      await waitFor("a full node", async () => (await backends[0].counters()).active === 1);
      const get = (headers: Record<string, string> = {}): Promise<string> =>
        gateway.get("/", { headers }).then(reasonOf);
      expect(await get({ "X-Class": "batch" })).toBe("503 queue_full");
      expect(await get({ "X-Timeout-Ms": "0" })).toBe("503 queue_timeout");
      expect(await get({ "X-Timeout-Ms": "30" })).toBe("503 queue_timeout");
      const waiting = [get(), get({ "X-Timeout-Ms": "-5e9" })];
      await waitForWaiting(gateway, 2);
      expect(await get()).toBe("503 queue_full");
      expect(await Promise.all(waiting)).toEqual(["503 queue_timeout", "503 queue_timeout"]);
      expect((await backends[0].counters()).active).toBe(1);
      expect((await served).status).toBe(200);
      expect((await gateway.get("/", { headers: { "X-Class": "batch" } })).status).toBe(200);
      await expectNoFaults(gateway);
    }));

  it("gives no place to clients that have hung up, and loses none", () =>
    withKit("hangups", async (kit) => {
      const backends = await kit.backends(1, { settings: { delay: { dist: "fixed", mean_ms: 4000 } } });
      const ax = upstream(backends, 2, { queue: { size: 100 } });
      const gateway = await kit.gateway({ servers: backends, ax, access: true, http: ABORT });
      const first = [gateway.get("/"), gateway.get("/")];
      await waitFor("a full node", async () => (await backends[0].counters()).active === 2);
      await backends[0].set({ delay: { dist: "fixed", mean_ms: 10 } });
      const stay: Promise<HttpAnswer>[] = [];
      const go: Socket[] = [];
      for (let k = 0; k < 20; k++) {
        go.push(rawRequest(gateway));
        stay.push(gateway.get("/"));
      }
      await waitForWaiting(gateway, 40);
      for (const socket of go) socket.destroy();
      await waitForWaiting(gateway, 20);
      expect((await Promise.all([...first, ...stay])).every((answer) => answer.status === 200)).toBe(true);
      const counters = await backends[0].counters();
      expect(counters.requests).toBe(22);
      expect(counters.max_active).toBe(2);
      await expectNoFaults(gateway);
    }));

  it("takes hostile classes for normal, and believes no promotion, but counts both", () =>
    withKit("guard", async (kit) => {
      const backends = await kit.backends(1);
      const ax = upstream(backends, 5, { trust_client_class: false, queue: {} });
      const http = "large_client_header_buffers 4 32k;";
      const location = 'proxy_set_header X-Class "";';
      const gateway = await kit.gateway({ servers: backends, ax, access: true, http, location });
      for (const name of ["vip", "vip", "x".repeat(10_240), "\u00ff\u0001\u00fe", "batch"]) {
        expect((await gateway.get("/", { headers: { "X-Class": name.replace("\u0001", "\t") } })).status).toBe(200);
      }
      await waitFor("the counts", async () => {
        const { unknown_classes, capped_classes } = await admissionOf(gateway);
        return unknown_classes === 2 && capped_classes === 2;
      });
      const priorities = (await admissionOf(gateway)).queue?.priorities ?? [];
      expect(priorities.map(({ priority, admitted }) => [priority, admitted])).toEqual([
        [3, 4],
        [5, 1],
      ]);
      await expectNoFaults(gateway);
    }));

  it("keeps no place of a request that goes elsewhere, is redirected, or is answered from a cache", () =>
    withKit("leaks", async (kit) => {
      const backends = await kit.backends(1, { settings: { error_share: 0 } });
      const ax = upstream(backends, 1);
      const access = 'access_by_lua_block { require("resty.ax").access("backend") }';
      const server = `
        location = /local { ${access} content_by_lua_block { ngx.say("here") } }
        location = /again {
          access_by_lua_block { local ax = require("resty.ax"); ax.access("backend"); ax.access("backend") }
          proxy_pass http://backend;
        }
        location = /error { ${access} error_page 500 502 503 = @again; proxy_intercept_errors on; proxy_pass http://backend; }
        location @again { ${access} proxy_pass http://backend; }
        location = /without { proxy_pass http://backend; }`;
      const gateway = await kit.gateway({ servers: backends, ax, access: true, server });
      for (const path of ["/local", "/again", "/without", "/", "/local"]) {
        expect(`${path} ${(await gateway.get(path)).status}`).toBe(`${path} 200`);
      }
      await backends[0].set({ error_share: 1, error_status: 500, error_delay_ms: null });
      // The second visit needs the only place, which the first one has given back.
      expect(reasonOf(await gateway.get("/error"))).toBe("500");
      await backends[0].set({ error_share: 0 });
      await waitForIdle(gateway);
      expect((await gateway.get("/")).status).toBe(200);
      await expectNoFaults(gateway);
    }));

  it("serves waiters of workers that shut down, over a reload, and of two workers in order", () =>
    withKit("workers", async (kit) => {
      const backends = await kit.backends(1, { settings: { delay: { dist: "fixed", mean_ms: 8000 } } });
      const ax = upstream(backends, 2, { queue: { size: 1000, timeout_ms: 60_000 } });
      const gateway = await kit.gateway({ servers: backends, ax, access: true, workers: 2 });
      const agent = new Agent({ keepAlive: false });
      const get = (): Promise<HttpAnswer> => gateway.get("/", { agent, timeout_ms: 60_000 });
      const first = [get(), get()];
      await waitFor("a full node", async () => (await backends[0].counters()).active === 2);
      await backends[0].set({ delay: { dist: "fixed", mean_ms: 20 } });
      // Its count of the other worker's requests is a flush old.
      await waitForStatus(gateway, "both in flight", (nodes) => nodes[0].in_flight === 2);
      const waiting = Array.from({ length: 60 }, get);
      await waitForWaiting(gateway, 60);
      await gateway.reload();
      const late = Array.from({ length: 10 }, get);
      const answers = await Promise.all([...first, ...waiting, ...late]);
      expect(answers.filter((answer) => answer.status !== 200)).toEqual([]);
      await gateway.waitForRetired();
      agent.destroy();
      await expectNoFaults(gateway);
    }));

  it("lets pass what it cannot decide: no nodes to choose from, an unknown upstream, a bug of ours", () =>
    withKit("pass", async (kit) => {
      const backends = await kit.backends(1);
      const location = 'access_by_lua_block { require("resty.ax").access("nobody") }';
      const gateway = await kit.gateway({ servers: backends, location });
      expect((await gateway.get("/")).status).toBe(200);
      const faults = async (): Promise<string[]> => Object.keys((await statusOf(gateway)).faults);
      await waitFor("the fault", async () => (await faults()).includes("unknown_upstream"));
      const broken =
        'access_by_lua_block { require("resty.ax.dataplane.worker").process.worker.hall.lines = nil; ' +
        'require("resty.ax.dataplane.worker").process.worker.by_name.backend.door = nil; require("resty.ax").access("backend") }';
      await gateway.reload({ location: broken });
      expect((await gateway.get("/")).status).toBe(200);
      await waitFor("the fault", async () => (await faults()).includes("access_phase"));
    }));
});
