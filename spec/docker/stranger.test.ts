import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { GenericContainer, Network, type StartedNetwork, type StartedTestContainer, Wait } from "testcontainers";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { http, waitFor } from "../../ts-src/node/testkit";
import { ROOT } from "../../ts-src/node/testkit/workdir";
import type { NodeStatus, Status, UpstreamStatus } from "../e2e/support";
import {
  buildImage,
  HOME,
  IMAGE,
  type Layout,
  layoutOfImage,
  type NodeContainer,
  startLoad,
  startNode,
  urlOf,
  WITHOUT_DOCKER,
} from "./containers";

const STRANGER_DIR = join(ROOT, "spec", "docker", "stranger");

type Files = Record<string, string>;

function filesUnder(dir: string, prefix = ""): Files {
  const files: Files = {};
  for (const name of readdirSync(dir)) {
    const path = join(dir, name);
    if (statSync(path).isDirectory()) Object.assign(files, filesUnder(path, `${prefix}${name}/`));
    else files[prefix + name] = readFileSync(path, "utf8");
  }
  return files;
}

/** What somebody changes in the stranger's files to have the library: [file, what stood there, what stands there now]. */
const EDITS: [file: string, before: string, after: string][] = [
  ["nginx.conf", '"/etc/nginx/lua/?.lua;;"', `"/etc/nginx/lua/?.lua;${HOME}/lua-out/?.lua;;"`],
  ["nginx.conf", "\tinit_by_lua_block {", `\tinclude ${HOME}/nginx/ax/http.conf;\n\tinit_by_lua_block {`],
  [
    "nginx.conf",
    'shop = require("shop")',
    'shop = require("shop")\n\t\trequire("resty.ax").init({ upstreams = { shop = {} } })',
  ],
  ["conf.d/upstreams.conf", "\tleast_conn;\n", ""],
  ["conf.d/upstreams.conf", "\tkeepalive 32;", `\tinclude ${HOME}/nginx/ax/upstream.conf;\n\tkeepalive 32;`],
  ["sites-enabled/shop", 'incr("admin", 1, 0)', 'incr("admin", 1, 0) require("resty.ax").log()'],
  [
    "sites-enabled/shop",
    "\tlocation = /counts",
    '\tlocation /ax/ { content_by_lua_block { require("resty.ax").api() } }\n\n\tlocation = /counts',
  ],
];

function withLibrary(files: Files): Files {
  const edited = { ...files };
  for (const [file, before, after] of EDITS) {
    if (!edited[file].includes(before)) throw new Error(`${file} has no ${before}`);
    edited[file] = edited[file].replace(before, () => after);
  }
  return edited;
}

/** The files where this image's nginx looks for them; the stranger's are Debian's. */
function contents(files: Files, layout: Layout): { content: string; target: string }[] {
  return Object.entries(files).map(([name, content]) => ({
    content: content
      .replaceAll("/etc/nginx/", `${layout.conf_dir}/`)
      .replaceAll("/var/log/nginx/", `${layout.log_dir}/`),
    target: `${layout.conf_dir}/${name}`,
  }));
}

/** The stranger's gateway, which runs as root, as Debian's does. */
async function startGateway(network: StartedNetwork, files: Files, layout: Layout): Promise<StartedTestContainer> {
  return new GenericContainer(IMAGE)
    .withNetwork(network)
    .withUser("root")
    .withCopyContentToContainer(contents(files, layout))
    .withExposedPorts(8080)
    .withWaitStrategy(Wait.forHttp("/counts", 8080))
    .start();
}

async function statusOf(gateway: StartedTestContainer): Promise<Status> {
  return JSON.parse((await http(`${urlOf(gateway)}/ax/v1/upstreams`)).text) as Status;
}

async function shopOf(gateway: StartedTestContainer): Promise<UpstreamStatus> {
  return (await statusOf(gateway)).upstreams[0];
}

/** Waits until the node at `ip` is as `probe` wants it. */
function waitForNode(
  gateway: StartedTestContainer,
  ip: string,
  what: string,
  probe: (node: NodeStatus) => boolean,
): Promise<unknown> {
  return waitFor(
    what,
    async () => {
      const node = (await shopOf(gateway)).nodes.find(({ address }) => address === `${ip}:8080`);
      return node !== undefined && probe(node);
    },
    60_000,
  );
}

/** Requests that ended, over all nodes: each is counted once. */
function counted(upstream: UpstreamStatus): number {
  return upstream.nodes.reduce((sum, { totals }) => sum + totals.ok + totals.err + totals.fail + totals.aborted, 0);
}

/**
 * Waits until all that ended so far is counted: workers publish every 100 ms, and the collector, whose generation
 * goes up each time, counts every 500 ms.
 */
async function settled(gateway: StartedTestContainer): Promise<number> {
  const { generation } = await shopOf(gateway);
  await waitFor("two more rounds of the collector", async () => (await shopOf(gateway)).generation >= generation + 2);
  return counted(await shopOf(gateway));
}

async function reload(gateway: StartedTestContainer, files: Files, layout: Layout): Promise<void> {
  await gateway.copyContentToContainer(contents(files, layout));
  const run = await gateway.exec(["nginx", "-s", "reload"]);
  expect(run.exitCode, run.output).toBe(0);
}

describe.skipIf(WITHOUT_DOCKER)("a stranger's gateway", () => {
  const plain = filesUnder(STRANGER_DIR);
  const edited = withLibrary(plain);
  let network: StartedNetwork;
  let nodes: NodeContainer[] = [];
  const gateways: StartedTestContainer[] = [];
  let gateway: StartedTestContainer;
  let layout: Layout;

  beforeAll(async () => {
    await buildImage();
    layout = layoutOfImage();
    network = await new Network().start();
    const speeds: [string, number][] = [
      ["app1", 10],
      ["app2", 10],
      ["app3", 300],
      ["spare", 10],
    ];
    nodes = await Promise.all(speeds.map(([name, p99_ms]) => startNode(network, name, p99_ms)));
    gateway = await startGateway(network, plain, layout);
    gateways.push(gateway);
  });

  afterAll(async () => {
    await Promise.all([...gateways, ...nodes.map(({ container }) => container)].map((part) => part.stop()));
    await network.stop();
  });

  it("serves as it stands, without the library", async () => {
    expect(await http(`${urlOf(gateway)}/`)).toMatchObject({ status: 200, headers: { "x-shop": "7" } });
    expect((await http(`${urlOf(gateway)}/images/a.png`)).status).toBe(200);
    expect((await http(`${urlOf(gateway)}/admin/`)).status).toBe(401);
    expect((await http(`${urlOf(gateway)}/ax/v1/upstreams`)).text).not.toContain("upstreams");
  });

  it("takes the library by a reload, under load, without a failed request", async () => {
    const load = startLoad(`${urlOf(gateway)}/`);
    await reload(gateway, edited, layout);
    const adopted = async (): Promise<boolean> =>
      shopOf(gateway).then(
        ({ nodes }) => nodes.some(({ totals }) => totals.ok > 0),
        () => false,
      );
    await waitFor("the library to pick", adopted, 30_000);
    const { sent } = load.soFar;
    await waitFor("more requests", () => load.soFar.sent > sent + 50, 30_000);
    expect((await load.stop()).failed).toEqual([]);

    const shop = await shopOf(gateway);
    const nodes_from = layout.has_upstream_api ? "ngx.upstream" : `${layout.conf_dir}/conf.d/upstreams.conf`;
    expect(shop).toMatchObject({ name: "shop", nodes_from, warnings: [] });
    const expected = nodes.map((node, k) => ({
      address: `${node.ip()}:8080`,
      base_weight: k === 0 ? 2 : 1,
      backup: k === 3,
      // As written; the others have defaults of the library's own.
      ...(k === 0 && { max_fails: 2, fail_timeout_s: 5 }),
    }));
    expect(shop.nodes).toMatchObject(expected);
  });

  it("keeps its own Lua", async () => {
    const before = await settled(gateway);
    const headers = { "X-Token": "letmein" };
    for (let k = 0; k < 10; k++) expect((await http(`${urlOf(gateway)}/admin/`, { headers })).status).toBe(200);
    expect((await http(`${urlOf(gateway)}/admin/`)).status).toBe(401);
    expect((await http(`${urlOf(gateway)}/images/a.png`)).status).toBe(200);
    expect(await http(`${urlOf(gateway)}/`)).toMatchObject({ status: 200, headers: { "x-shop": "7" } });
    expect(Number((await http(`${urlOf(gateway)}/counts`)).text)).toBeGreaterThanOrEqual(10);
    // 11 requests in all went to the upstream that is ours.
    expect(await settled(gateway)).toBe(before + 11);
    expect((await statusOf(gateway)).faults).toEqual({});
  });

  it("gives the slow node less, and the backup nothing", async () => {
    const before = await Promise.all(nodes.map((node) => node.requests()));
    const load = startLoad(`${urlOf(gateway)}/`);
    const served = async (): Promise<number> => {
      const now = await Promise.all(nodes.map((node) => node.requests()));
      return now.reduce((sum, count, k) => sum + count - before[k], 0);
    };
    await waitFor("500 requests", async () => (await served()) > 500, 60_000);
    expect((await load.stop()).failed).toEqual([]);
    const after = await Promise.all(nodes.map((node) => node.requests()));
    const [app1, app2, app3, spare] = after.map((count, k) => count - before[k]);
    expect(app3).toBeLessThan(Math.min(app1, app2) / 2);
    expect(spare).toBe(0);
  });

  it("loses no request when a node's container is killed, and takes it back", async () => {
    const [, app2] = nodes;
    const ip = app2.ip();
    const load = startLoad(`${urlOf(gateway)}/`);
    await waitForNode(gateway, ip, "traffic on the node", (node) => (node.requests_per_s ?? 0) > 0);
    app2.kill();
    await waitForNode(gateway, ip, "the node to be out", (node) => node.totals.fail > 0 && node.state !== "online");
    await app2.restart();
    // Names are looked up at start and at reloads: an address that changed takes one.
    if (app2.ip() !== ip) await reload(gateway, edited, layout);
    await waitForNode(gateway, app2.ip(), "the node to be back", (node) => ["ramping", "online"].includes(node.state));
    const before = await app2.requests();
    await waitFor("requests on the node", async () => (await app2.requests()) > before + 5, 60_000);
    expect((await load.stop()).failed).toEqual([]);
  });

  it("keeps what it knows over a reload under load", async () => {
    const before = await shopOf(gateway);
    const load = startLoad(`${urlOf(gateway)}/`);
    await reload(gateway, edited, layout);
    const old = new Set((await statusOf(gateway)).workers.map(({ pid }) => pid));
    await waitFor(
      "new workers",
      async () => (await statusOf(gateway)).workers.some(({ pid }) => !old.has(pid)),
      30_000,
    );
    const after = await shopOf(gateway);
    expect((await load.stop()).failed).toEqual([]);
    for (const [k, node] of after.nodes.entries()) {
      expect(node.totals.picks).toBeGreaterThanOrEqual(before.nodes[k].totals.picks);
    }
  });

  it("works beside a second gateway on the same nodes", async () => {
    const second = await startGateway(network, edited, layout);
    gateways.push(second);
    const start = await Promise.all(nodes.map((node) => node.requests()));
    const before = await settled(gateway);
    const loads = [gateway, second].map((one) => startLoad(`${urlOf(one)}/`, 4));
    await waitFor("traffic by both", async () => counted(await shopOf(second)) > 200, 30_000);
    const results = await Promise.all(loads.map((load) => load.stop()));
    expect(results.flatMap(({ failed }) => failed)).toEqual([]);
    const sent = results.map((result) => result.sent);
    expect(await settled(second)).toBe(sent[1]);
    expect(await settled(gateway)).toBe(before + sent[0]);
    const end = await Promise.all(nodes.map((node) => node.requests()));
    expect(end.reduce((sum, count, k) => sum + count - start[k], 0)).toBe(sent[0] + sent[1]);
    const slow = (await shopOf(second)).nodes[2];
    expect(slow.totals.picks).toBeLessThan(sent[1] / 4);
  });
});
