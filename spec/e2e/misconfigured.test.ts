import { describe, expect, it } from "vitest";
import { startupError, withKit } from "../../ts-src/node/testkit";
import { nodesOf } from "./support";

describe("a configuration in which the library would do nothing", () => {
  it("does not start: a balancing method behind balancer_by_lua", () =>
    withKit("method behind", async (kit) => {
      const [backend] = await kit.backends(1);
      for (const nodes of [undefined, [{ address: backend.address }]]) {
        const output = await startupError({
          servers: [backend],
          upstream: "least_conn;",
          ax: { upstreams: { backend: nodes === undefined ? {} : { nodes } } },
        });
        expect(output).toMatch(/least_conn at \S+nginx\.conf:\d+ comes after balancer_by_lua_block at \S+:\d+/);
      }
    }));

  it("starts with a warning: no balancer_by_lua", () =>
    withKit("no balancer", async (kit) => {
      const [backend] = await kit.backends(1);
      const off = await kit.gateway({ servers: [backend], balancer: "ax-off" });
      expect(off.errorLog()).toMatch(/the upstream block at \S+:\d+ has no balancer_by_lua/);
    }));
});

describe("the path given to init", () => {
  it("starts from the directory of nginx.conf when it is relative, and the error says so", () =>
    withKit("relative", async (kit) => {
      const [backend] = await kit.backends(1);
      const gateway = await kit.gateway({ servers: [backend], ax_lua: '"ax.json"' });
      expect((await nodesOf(gateway))[0].id).toBe(backend.address);
      const output = await startupError({ servers: [backend], ax_lua: '"sub/none.json"' });
      expect(output).toMatch(/\/sub\/none\.json: No such file/);
      expect(output).toMatch(/starts from the directory of nginx's configuration file, \S+nginx\.conf/);
    }));
});

describe("a unix socket with a relative path", () => {
  it("is taken as nginx takes it", () =>
    withKit("relative socket", async (kit) => {
      const gateway = await kit.gateway({
        servers: ["unix:./app.sock"],
      });
      expect((await nodesOf(gateway))[0].id).toBe("unix:./app.sock");
      expect((await gateway.get("/")).status).toBe(502);
    }));
});
