import { execFileSync } from "node:child_process";
import { readdirSync, writeFileSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { type Example, http, type Kit, startExample, waitFor, withKit } from "../../ts-src/node/testkit";
import { EXAMPLES_DIR } from "../../ts-src/node/testkit/example";
import { newDir, removeDir } from "../../ts-src/node/testkit/workdir";
import { authority, type ExampleNode, fastcgiNode, grpcCall, grpcNode, tlsNode } from "./example_nodes";
import {
  AT_A_TIME,
  exercise,
  expectCounted,
  get,
  nodesOfBackends,
  ROUND,
  sendRound,
  sum,
  upstreamOf,
  withThree,
} from "./example_rounds";
import { type Status, statusOf, waitForStatus } from "./support";

const tested = new Set<string>();

/** A test of one example, by its file. */
function example(file: string, what: string, body: (kit: Kit) => Promise<void>): void {
  tested.add(file);
  it(`${file}: ${what}`, () => withKit(file, body));
}

describe("examples", () => {
  example("drop_in.conf", "the include files serve, count, and survive a dead node", async (kit) => {
    const { backends, example } = await withThree(kit, "drop_in.conf");
    const status = await statusOf(example);
    expect(status.upstreams[0].nodes.map((node) => node.base_weight)).toEqual([2, 1, 1]);
    await exercise(example, { upstream: "backend", nodes: nodesOfBackends(backends), send: get(example) });
  });

  example("keepalive.conf", "connections are used again", async (kit) => {
    const { backends, example } = await withThree(kit, "keepalive.conf");
    await exercise(example, { upstream: "backend", nodes: nodesOfBackends(backends), send: get(example) });
    const [, b, c] = backends;
    for (const backend of [b, c]) {
      const { connections, requests } = await backend.counters();
      expect(connections).toBeLessThanOrEqual(2 * AT_A_TIME);
      expect(requests).toBeGreaterThan(connections);
    }
  });

  example("grpc.conf", "calls are balanced one by one", async (kit) => {
    const nodes = await Promise.all([grpcNode(), grpcNode(), grpcNode()]);
    nodes.map((node) => kit.keep(node));
    const [a, b, c] = nodes;
    const addresses = { "127.0.0.1:50051": a.address, "127.0.0.1:50052": b.address, "127.0.0.1:50053": c.address };
    const example = await startExample(kit, "grpc.conf", { nodes: addresses, port: 8090 });
    const send = async (number: number): Promise<void> => {
      expect(await grpcCall(example.portOf(8080), `call ${number}`)).toBe(`call ${number}`);
    };
    await exercise(example, { upstream: "calls", nodes, send });
  });

  example("websocket.conf", "sockets are spread evenly, and are in flight while they are open", async (kit) => {
    const { backends, example } = await withThree(kit, "websocket.conf");
    const inFlight = (status: Status): number =>
      upstreamOf(status, "sockets").nodes.reduce((total, node) => total + (node.in_flight ?? 0), 0);
    const sockets: Socket[] = [];
    while (sockets.length < 6) {
      sockets.push(await openWebSocket(example));
      // least_conn is exact once both workers know of the sockets that are open.
      const open = sockets.length;
      await waitForStatus(example, `${open} sockets in flight`, (_, status) => inFlight(status) === open);
    }
    const upgrades = await Promise.all(backends.map(async (backend) => (await backend.counters()).upgrades));
    expect(upgrades).toEqual([2, 2, 2]);
    for (const socket of sockets) socket.end();
    await waitForStatus(example, "no socket in flight", (_, status) => inFlight(status) === 0);
    expect(sum(upstreamOf(await statusOf(example), "sockets"), "fail")).toBe(0);

    await Promise.all(backends.map((backend) => backend.resetCounters()));
    await exercise(example, { upstream: "pages", nodes: nodesOfBackends(backends), send: get(example) });
  });

  example("fastcgi.conf", "over TCP and a unix socket", async (kit) => {
    const dir = newDir("ax", tmpdir());
    kit.keep({ stop: () => Promise.resolve(removeDir(dir)) });
    const nodes = await Promise.all([fastcgiNode(), fastcgiNode(), fastcgiNode(join(dir, "php.sock"))]);
    nodes.map((node) => kit.keep(node));
    const [a, b, c] = nodes;
    const addresses = {
      "127.0.0.1:9001": a.address,
      "127.0.0.1:9002": b.address,
      "unix:/run/php/php-fpm.sock": c.address,
    };
    const example = await startExample(kit, "fastcgi.conf", { nodes: addresses });
    const send = async (number: number): Promise<void> => {
      const answer = await example.get(`/page/${number}`);
      expect(answer).toMatchObject({ status: 200, text: `page /page/${number}\n` });
    };
    await exercise(example, { upstream: "php", nodes, send });
    expect(upstreamOf(await statusOf(example), "php").nodes.map((node) => node.max_conns)).toEqual([50, 50, 50]);
  });

  example("tls.conf", "names are sent and verified; a node with a wrong certificate serves nothing", async (kit) => {
    const issuer = authority(kit.dir);
    const start = async (name: string): Promise<ExampleNode> =>
      kit.keep(await tlsNode("api.internal", issuer.issue(name)));
    const nodes = [await start("api.internal"), await start("api.internal"), await start("api.internal")];
    const wrong = await start("other.internal");
    const paths = { "/etc/ssl/certs/ca-certificates.crt": issuer.path };
    const inFront = ([a, b, c]: ExampleNode[]): Promise<Example> =>
      startExample(kit, "tls.conf", {
        nodes: { "127.0.0.1:8441": a.address, "127.0.0.1:8442": b.address, "127.0.0.1:8443": c.address },
        paths,
      });
    const sender = (example: Example) => async (): Promise<void> =>
      expect(await example.get("/")).toMatchObject({ status: 200, text: "api.internal" });
    const [, b, c] = nodes;
    const mixed = await inFront([wrong, b, c]);
    await sendRound(sender(mixed));
    expect(wrong.requests()).toBe(0);
    const seen = await expectCounted(mixed, "secure", ROUND);
    expect(seen.nodes.map((node) => node.totals.ok > 0)).toEqual([false, true, true]);
    expect(seen.nodes[0].totals.fail).toBeGreaterThan(0);

    const fresh = [nodes[0], await start("api.internal"), await start("api.internal")];
    const example = await inFront(fresh);
    await exercise(example, { upstream: "secure", nodes: fresh, send: sender(example) });
  });

  example("addresses.conf", "IPv4, IPv6, a unix socket and a name", async (kit) => {
    const delay = { dist: "fixed", mean_ms: 4 } as const;
    const backends = await Promise.all(
      ["127.0.0.1", "[::1]", "unix", "127.0.0.1"].map((host) => kit.backend({ host, settings: { delay } })),
    );
    const [four, six, socket, named] = backends;
    const example = await startExample(kit, "addresses.conf", {
      nodes: {
        "127.0.0.1:8081": four.address,
        "[::1]:8082": six.address,
        "unix:/run/app/http.sock": socket.address,
        "localhost:8083": `localhost:${named.port}`,
      },
    });
    // "localhost" may also be [::1], where nobody listens on that port: that node is dead from the start.
    await sendRound(get(example));
    const status = await expectCounted(example, "backend", ROUND);
    const ids = status.nodes.map((node) => node.id);
    expect(ids).toEqual(expect.arrayContaining([four.address, six.address, socket.address, `127.0.0.1:${named.port}`]));
    for (const backend of backends) expect((await backend.counters()).requests).toBeGreaterThan(0);
    const path = `/ax/v1/upstreams/backend/nodes/${six.address.replace("[", "%5B").replace("]", "%5D")}`;
    expect(JSON.parse((await example.get(path)).text)).toMatchObject({ address: six.address });
    await four.kill();
    await sendRound(get(example));
    await expectCounted(example, "backend", 2 * ROUND);
  });

  example("several_upstreams.conf", "each upstream for itself; the one not named is nginx's", async (kit) => {
    const backends = await kit.backends(6, { settings: { delay: { dist: "fixed", mean_ms: 4 } } });
    const nodes = Object.fromEntries(backends.map((backend, k) => [`127.0.0.1:${8081 + k}`, backend.address]));
    const example = await startExample(kit, "several_upstreams.conf", { nodes });
    const names = (await statusOf(example)).upstreams.map((upstream) => upstream.name);
    expect(names).toEqual(["media", "search", "web"]);
    const [a, b, c, d, e, f] = backends;
    await sendRound((number) => get(example, `/search?q=${number % 30}`)());
    await expectCounted(example, "search", ROUND);
    expect((await a.counters()).requests).toBe(0);
    for (const backend of [b, c]) expect((await backend.counters()).requests).toBeGreaterThan(0);

    const mediaOf = async (): Promise<number[]> => [(await d.counters()).requests, (await e.counters()).requests];
    for (let k = 0; k < 3; k++) await get(example, "/media/same.mp4")();
    expect((await mediaOf()).sort()).toEqual([0, 3]);
    await sendRound((number) => get(example, `/media/${number}.mp4`)());
    await expectCounted(example, "media", ROUND + 3);
    const once = await mediaOf();
    for (const requests of once) expect(requests).toBeGreaterThan(ROUND / 10);
    // The same paths again go where they went, in whatever order and by whichever worker.
    await sendRound((number) => get(example, `/media/${number}.mp4`)());
    for (let k = 0; k < 3; k++) await get(example, "/media/same.mp4")();
    expect(await mediaOf()).toEqual(once.map((requests) => 2 * requests));

    await get(example, "/legacy/")();
    expect((await f.counters()).requests).toBe(1);
    await b.resetCounters();
    await exercise(example, { upstream: "web", nodes: nodesOfBackends([a, b]), send: get(example) });
    await get(example, "/search?q=1")();
  });

  example("own_lua.conf", "both sides' Lua runs, in every phase", async (kit) => {
    const { backends, example } = await withThree(kit, "own_lua.conf");
    const send = async (number: number): Promise<void> => {
      const answer = await example.get(number % 2 === 0 ? "/" : "/orders/");
      expect(answer.status).toBe(200);
      if (number % 2 === 0) expect(Number(answer.headers["x-up-since"])).toBeGreaterThan(0);
    };
    await exercise(example, { upstream: "backend", nodes: nodesOfBackends(backends), send });
    const blocked = await example.get("/", { headers: { "X-Blocked": "1" } });
    expect(blocked.status).toBe(403);
    const stats = (await example.get("/stats")).text;
    expect(stats).toContain(`orders ${ROUND}`);
    await expectCounted(example, "backend", 2 * ROUND);
  });

  example("queue.conf", "who finds all nodes full waits, and no node has more than its limit", async (kit) => {
    const full = await withThree(kit, "queue.conf");
    // 40 at a time, where three nodes take 4 each: the rest waits.
    const paths = Array.from({ length: 40 }, (_, k) => (k % 4 === 0 ? "/checkout" : "/reports/1"));
    await Promise.all(paths.map((path) => get(full.example, path)()));
    for (const backend of full.backends) expect((await backend.counters()).max_active).toBeLessThanOrEqual(4);
    const status = await expectCounted(full.example, "backend", 40);
    const { queue } = status.admission as { queue: { waiting: number; priorities: { priority: number }[] } };
    expect(queue.waiting).toBe(0);
    expect(queue.priorities.map(({ priority }) => priority)).toEqual(expect.arrayContaining([1, 5]));

    const { backends, example } = await withThree(kit, "queue.conf");
    // Few enough for two nodes: a retry cannot wait, and gets a 502 where every other node is full.
    const at_a_time = 6;
    await exercise(example, { upstream: "backend", nodes: nodesOfBackends(backends), send: get(example), at_a_time });
  });

  example("probes.conf", "nodes are checked, and checks count as no requests", async (kit) => {
    const { backends, example } = await withThree(kit, "probes.conf");
    const verdicts = async (): Promise<(string | undefined)[]> =>
      (await statusOf(example)).upstreams[0].nodes.map((node) => node.probe?.verdict);
    await waitFor("all nodes to pass", async () => (await verdicts()).every((verdict) => verdict === "pass"), 30_000);
    await backends[0].kill();
    await waitFor("the dead node to fail", async () => (await verdicts())[0] === "fail", 40_000);
    await sendRound(get(example));
    await expectCounted(example, "backend", ROUND);
    expect((await statusOf(example)).upstreams[0].nodes[0].totals.ok).toBe(0);
  });

  example("api.conf", "everyone in the house looks, operators change", async (kit) => {
    const password_path = join(kit.dir, "htpasswd");
    const hash = execFileSync("openssl", ["passwd", "-apr1", "secret"], { encoding: "utf8" }).trim();
    writeFileSync(password_path, `alice:${hash}\n`);
    const paths = { "/etc/nginx/ax.htpasswd": password_path };
    const { backends, example } = await withThree(kit, "api.conf", { paths, port: 8090 });
    const admin = example.url;
    const send = async (): Promise<void> =>
      expect((await http(`http://127.0.0.1:${example.portOf(8080)}/`)).status).toBe(200);
    const headers = { Authorization: `Basic ${Buffer.from("alice:secret").toString("base64")}` };
    const status = async (): Promise<Status> =>
      JSON.parse((await http(`${admin}/ax-status/v1/upstreams`)).text) as Status;
    const seen = { ...example, status };
    await exercise(seen, { upstream: "backend", nodes: nodesOfBackends(backends), send });

    const node = `/v1/upstreams/backend/nodes/${backends[1].address}`;
    const change = { method: "PATCH", body: { drain: true } };
    const json = { "Content-Type": "application/json" };
    expect((await http(`${admin}/ax${node}`, { ...change, headers: json })).status).toBe(401);
    expect((await http(`${admin}/ax-status${node}`, { ...change, headers: json })).status).toBe(405);
    expect((await http(`${admin}/ax${node}`, { ...change, headers: { ...json, ...headers } })).status).toBe(200);
    const offline = (): Promise<boolean> => status().then((now) => now.upstreams[0].nodes[1].state === "offline");
    await waitFor("the node to be out", offline);
    expect(JSON.stringify((await status()).upstreams[0].nodes[1])).toContain('"by":"alice"');
    let rounds = 2;
    await waitFor("a round without a request to the node that drains", async () => {
      const { requests } = await backends[1].counters();
      await sendRound(send);
      rounds++;
      return (await backends[1].counters()).requests === requests;
    });
    await expectCounted(seen, "backend", rounds * ROUND);
  });

  it("are all tested here", () => {
    expect(readdirSync(EXAMPLES_DIR).sort()).toEqual([...tested].sort());
  });
});

/** Opens a WebSocket as far as the gateway is concerned, and has a word echoed. */
async function openWebSocket(example: Example) {
  const socket = connect(example.port, "127.0.0.1");
  let text = "";
  socket.on("data", (part: Buffer) => (text += part.toString()));
  socket.write("GET /ws/ HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n");
  await waitFor("the upgrade", () => text.includes("101 "));
  socket.write("hello");
  await waitFor("the echo", () => text.endsWith("hello"));
  return socket;
}
