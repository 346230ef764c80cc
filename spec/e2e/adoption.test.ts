import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { type Backend, startupError, withKit } from "../../ts-src/node/testkit";
import { nodesOf, statusOf, waitForOutcomes } from "./support";

const ROUND_ROBIN = { upstreams: { backend: { strategy: "round_robin" } } };

describe("adopted server lines", () => {
  it("keep weight, max_fails, fail_timeout, max_conns, backup and down", () =>
    withKit("parameters", async (kit) => {
      const [heavy, light, spare, gone] = (await kit.backends(4)) as [Backend, Backend, Backend, Backend];
      const gateway = await kit.gateway({
        ax: ROUND_ROBIN,
        servers: [
          `${heavy.address} weight=3 max_fails=7 fail_timeout=1m30s`,
          `${light.address}\n max_conns=40 # comment; "quoted" {\n`,
          `${spare.address} backup`,
          `${gone.address} down`,
        ],
        // nginx takes backup and max_conns only before balancer_by_lua: this is where the kit puts them.
      });
      for (let k = 0; k < 40; k++) expect((await gateway.get("/")).status).toBe(200);
      const nodes = (await waitForOutcomes(gateway, 40)).upstreams[0].nodes;
      expect(nodes.map((node) => node.totals.picks)).toEqual([30, 10, 0, 0]);
      expect(nodes[0]).toMatchObject({ base_weight: 3, max_fails: 7, fail_timeout_s: 90, backup: false });
      expect(nodes[1]).toMatchObject({ base_weight: 1, max_fails: 10, fail_timeout_s: 30, max_conns: 40 });
      expect(nodes[2]).toMatchObject({ backup: true, state: "online" });
      expect(nodes[3]).toMatchObject({ state: "offline" });

      await Promise.all([heavy.kill(), light.kill()]);
      for (let k = 0; k < 20; k++) expect((await gateway.get("/")).status).toBe(200);
      expect((await spare.counters()).requests).toBeGreaterThanOrEqual(20);
      expect((await gone.counters()).requests).toBe(0);
    }));

  it("may be IPv6 addresses, unix sockets, and names with several addresses", () =>
    withKit("addresses", async (kit) => {
      const six = await kit.backend({ host: "[::1]", name: "six" });
      const socket = await kit.backend({ host: "unix", name: "socket" });
      const four = await kit.backend({ name: "four" });
      const gateway = await kit.gateway({
        ax: ROUND_ROBIN,
        servers: [six.address, socket.address, `localhost:${four.port}`],
      });
      const nodes = await nodesOf(gateway);
      expect(nodes.map((node) => node.address)).toEqual(
        expect.arrayContaining([six.address, socket.address, `127.0.0.1:${four.port}`]),
      );
      // "localhost" may also stand for [::1], where nothing listens on that port: then a retry serves.
      for (let k = 0; k < 4 * nodes.length; k++) expect((await gateway.get("/")).status).toBe(200);
      for (const backend of [six, socket, four]) expect((await backend.counters()).requests).toBeGreaterThan(0);
      const counted = (await waitForOutcomes(gateway, 4 * nodes.length)).upstreams[0].nodes;
      for (const backend of [six, socket]) {
        const node = counted.find((candidate) => candidate.address === backend.address)!;
        expect(node.totals.ok).toBe((await backend.counters()).requests);
      }
    }));

  it("are found in included files, also after a reload that changes them", () =>
    withKit("includes", async (kit) => {
      const [a, b] = (await kit.backends(2)) as [Backend, Backend];
      const dir = join(kit.dir, "conf.d");
      mkdirSync(dir);
      const write = (address: string): void =>
        writeFileSync(
          join(dir, "extra.conf"),
          `# upstream extra { server 203.0.113.1; }
           upstream "extra" { server '${address}';
             balancer_by_lua_block { local s = "}" --[[ } ]] require("resty.ax").balancer("extra") } }`,
        );
      write(a.address);
      const gateway = await kit.gateway({
        servers: [a],
        ax: { upstreams: { backend: {}, extra: {} } },
        http: `include ${dir}/*.conf;`,
        server: "location /extra { proxy_pass http://extra; }",
      });
      const extra = async (): Promise<string[]> =>
        (await statusOf(gateway)).upstreams.find(({ name }) => name === "extra")!.nodes.map((node) => node.address);
      expect(await extra()).toEqual([a.address]);
      write(b.address);
      await gateway.reload();
      expect(await extra()).toEqual([b.address]);
      expect((await gateway.get("/extra")).headers["x-backend"]).toBe(b.name);
    }));

  it("that cannot be adopted stop the start with the reason", () =>
    withKit("refused", async (kit) => {
      const backend = await kit.backend();
      const refusal = (servers: string[], ax: unknown): Promise<string> =>
        startupError({ servers, ax, parent_dir: kit.dir, balancer: "ax" });
      const unknown = await refusal([backend.address], { upstreams: { backnd: {} } });
      expect(unknown).toContain("upstreams.backnd");
      expect(unknown).toContain("backend");
      const unreadable = await refusal([backend.address], {
        nginx_conf: "/nonexistent/nginx.conf",
        upstreams: { backend: {} },
      });
      expect(unreadable).toContain("/nonexistent/nginx.conf");
      expect(unreadable).toContain("No such file");
      const all_down = await refusal([`${backend.address} down`], { upstreams: { backend: {} } });
      expect(all_down).toContain("down");
    }));
});
