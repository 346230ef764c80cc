import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { type Gateway, runWrk, withKit } from "../../ts-src/node/testkit";
import { failures, statusOf, waitForStatus } from "./support";

/** A location that runs Lua in a worker of the gateway: how specs break things from the inside. */
const BREAK = `location /break/ {
  content_by_lua_block {
    ngx.req.read_body()
    local ok, err = pcall(assert(loadstring(ngx.req.get_body_data())))
    ngx.say(ok and "ok" or err)
  }
}`;

async function inWorker(gateway: Gateway, lua: string): Promise<void> {
  const answer = await gateway.get("/break/", { method: "POST", body: lua, headers: { "Content-Type": "text/plain" } });
  expect(answer.text.trim()).toBe("ok");
}

async function expectService(gateway: Gateway): Promise<void> {
  const load = await runWrk({ url: `${gateway.url}/`, connections: 8, duration_s: 2 });
  expect(failures(load)).toBe(0);
  expect(load.requests).toBeGreaterThan(100);
}

function moduleDir(dir: string, name: string, text: string): string {
  const path = join(dir, "modules");
  mkdirSync(path, { recursive: true });
  writeFileSync(join(path, `${name}.lua`), text);
  return path;
}

describe("requests are served all the same, and the status names the fault, with", () => {
  it("a strategy module that throws", () =>
    withKit("throwing", async (kit) => {
      const module = 'return { pick = function() error("my bug") end }';
      const gateway = await kit.gateway({
        workers: 2,
        servers: await kit.backends(3),
        ax: { upstreams: { backend: { strategy_module: "broken_strategy" } } },
        lua_path: [moduleDir(kit.dir, "broken_strategy", module)],
      });
      await expectService(gateway);
      const status = await waitForStatus(
        gateway,
        "the fault",
        (_, { faults }) => (faults["strategy"]?.count ?? 0) > 100,
      );
      expect(status.faults["strategy"].last_message).toContain("my bug");
      // Logged once a minute in each worker, not at every request.
      const lines = gateway
        .errorLog()
        .split("\n")
        .filter((line) => line.includes("my bug"));
      expect(lines.length).toBeGreaterThan(0);
      expect(lines.length).toBeLessThanOrEqual(2);
    }));

  it("a strategy module whose create throws", () =>
    withKit("create-throws", async (kit) => {
      const module = 'return { create = function() error("no state") end, pick = function(s) return s.x end }';
      const gateway = await kit.gateway({
        servers: await kit.backends(2),
        ax: { upstreams: { backend: { strategy_module: "broken_create" } } },
        lua_path: [moduleDir(kit.dir, "broken_create", module)],
      });
      await expectService(gateway);
      const status = await waitForStatus(gateway, "the fault", (_, { faults }) => faults["strategy"] !== undefined);
      expect(status.faults["strategy"].count).toBeGreaterThan(0);
    }));

  it("a strategy module that answers nonsense of every kind", () =>
    withKit("nonsense", async (kit) => {
      const module = `
        local rude = setmetatable({}, { __tostring = function() error("no words") end })
        local answers = { false, "n1", -1, 1e9, 0 / 0, 0.5, {}, rude }
        local turn = 0
        return {
          pick = function()
            turn = turn % #answers + 1
            return answers[turn] or nil
          end,
        }`;
      const backends = await kit.backends(3);
      const gateway = await kit.gateway({
        servers: backends,
        ax: { upstreams: { backend: { strategy_module: "rude_strategy" } } },
        lua_path: [moduleDir(kit.dir, "rude_strategy", module)],
      });
      await expectService(gateway);
      const status = await waitForStatus(
        gateway,
        "the fault",
        (_, { faults }) => (faults["strategy"]?.count ?? 0) > 100,
      );
      expect(status.faults["strategy"].last_message).toContain("which is not one of the 3 candidates");
      for (const backend of backends) expect((await backend.counters()).requests).toBeGreaterThan(10);
    }));

  it("a strategy module whose prepare throws, once it has worked", () =>
    withKit("prepare-throws", async (kit) => {
      const module = `return {
        create = function() return { times = 0 } end,
        prepare = function(state)
          state.times = state.times + 1
          if state.times > 1 then error("no more tables") end
        end,
        pick = function(state, _, candidates)
          return state.times > 0 and candidates[1] or nil
        end,
      }`;
      const gateway = await kit.gateway({
        servers: await kit.backends(2),
        ax: { upstreams: { backend: { strategy_module: "broken_prepare" } } },
        lua_path: [moduleDir(kit.dir, "broken_prepare", module)],
      });
      await expectService(gateway);
      const status = await waitForStatus(gateway, "the fault", (_, { faults }) => faults["strategy"] !== undefined);
      // Picks find what the first call has made: theirs is no fault.
      expect(status.faults["strategy"].last_message).toContain("prepare: ");
      expect(status.faults["strategy"].last_message).toContain("no more tables");
    }));

  it("a bug in the balancer phase itself: nginx's own round robin serves", () =>
    withKit("bug", async (kit) => {
      const backends = await kit.backends(3);
      const gateway = await kit.gateway({ servers: backends, server: BREAK });
      await inWorker(
        gateway,
        'require("resty.ax.dataplane.worker").process.worker.by_name.backend.pool.static_weight = nil',
      );
      await expectService(gateway);
      const status = await waitForStatus(
        gateway,
        "the fault",
        (_, { faults }) => (faults["balancer"]?.count ?? 0) > 10,
      );
      expect(status.faults["balancer"].last_message).toContain("weight");
      for (const backend of backends) expect((await backend.counters()).requests).toBeGreaterThan(10);
    }));

  it("an upstream name that is not configured", () =>
    withKit("unknown", async (kit) => {
      const backends = await kit.backends(2);
      const gateway = await kit.gateway({
        servers: backends,
        http: `upstream other {
          server ${backends[0].address};
          balancer_by_lua_block { require("resty.ax").balancer("othr") }
        }`,
        server: "location /other { proxy_pass http://other; }",
      });
      expect((await gateway.get("/other")).status).toBe(200);
      const status = await waitForStatus(
        gateway,
        "the fault",
        (_, { faults }) => faults["unknown_upstream"] !== undefined,
      );
      expect(status.faults["unknown_upstream"].last_message).toContain("othr");
    }));

  it("an upstream name that is missing", () =>
    withKit("nameless", async (kit) => {
      const gateway = await kit.gateway({
        servers: await kit.backends(2),
        balancer: 'balancer_by_lua_block { require("resty.ax").balancer(ngx.var.ax_upstream) }',
        http: `lua_shared_dict ax 1m;
          init_by_lua_block { require("resty.ax").init({ upstreams = { backend = {} } }) }
          init_worker_by_lua_block { require("resty.ax").init_worker() }
          log_by_lua_block { require("resty.ax").log() }`,
        location: "access_by_lua_block { require('resty.ax').access(nil) }",
        server: 'location /ax/ { content_by_lua_block { require("resty.ax").api() } }',
      });
      await expectService(gateway);
      const status = await waitForStatus(
        gateway,
        "the fault",
        (_, { faults }) => faults["unknown_upstream"].count > 10,
      );
      expect(Object.keys(status.faults)).toEqual(["unknown_upstream"]);
      expect(status.faults["unknown_upstream"].last_message).toMatch(/(balancer|access)\(nil\): .*name/);
    }));

  it("deleted and corrupted shared dict keys: all of them heal by themselves", () =>
    withKit("keys", async (kit) => {
      const gateway = await kit.gateway({ workers: 2, servers: await kit.backends(3), server: BREAK });
      await expectService(gateway);
      const before = await waitForStatus(gateway, "data", (_, { collector }) => collector.pid !== undefined);
      const generation = before.collector.generation!;
      for (const wreck of ["d:delete(key)", 'd:set(key, "{junk")', "d:set(key, 5)", "d:set(key, true)"]) {
        await inWorker(
          gateway,
          `local d = ngx.shared.ax
           for _, key in ipairs(d:get_keys(0)) do if key ~= "deltas" then ${wreck} end end`,
        );
        await expectService(gateway);
        const status = await waitForStatus(
          gateway,
          `data again after ${wreck}`,
          (nodes, { collector, workers }) =>
            collector.pid !== undefined &&
            (collector.data_age_ms ?? 1e9) < 2000 &&
            workers.length === 2 &&
            nodes[0].score !== undefined,
        );
        expect(status.upstreams[0].nodes).toHaveLength(3);
      }
      for (const record of ['{"pid":1}', '{"pid":1,"at_ms":1e18}', '{"pid":1,"at_ms":1,"in_flight":5}']) {
        await inWorker(gateway, `ngx.shared.ax:set("worker:7", [[${record}]]) ngx.shared.ax:set("worker:slots", 7)`);
        expect((await statusOf(gateway)).workers).toHaveLength(2);
      }
      await inWorker(gateway, 'ngx.shared.ax:set("deltas", "not a list")');
      await expectService(gateway);
      await inWorker(gateway, "ngx.shared.ax:flush_all()");
      await expectService(gateway);
      expect(generation).toBeGreaterThan(0);
    }));

  it("a full shared dict", () =>
    withKit("full", async (kit) => {
      const backends = await kit.backends(3);
      const gateway = await kit.gateway({
        workers: 2,
        servers: backends,
        server: BREAK,
        shared_dict_size: "128k",
      });
      await inWorker(
        gateway,
        `local d = ngx.shared.ax
         d:flush_all() d:flush_expired()
         for size = 12, 0, -1 do
           local k = 0
           repeat k = k + 1 until not d:safe_set("junk" .. size .. ":" .. k, ("x"):rep(2 ^ size)) or k > 100000
         end`,
      );
      await expectService(gateway);
      const status = await waitForStatus(gateway, "the fault", (_, { faults }) => faults["store_full"] !== undefined);
      expect(status.faults["store_full"].count).toBeGreaterThan(0);
      expect(status.upstreams[0].nodes).toHaveLength(3);
      for (const backend of backends) expect((await backend.counters()).requests).toBeGreaterThan(10);
      // The junk is still there: nothing of ours pushed a user's entries out.
      await inWorker(gateway, 'assert(ngx.shared.ax:get("junk12:1"))');
      const lines = gateway
        .errorLog()
        .split("\n")
        .filter((line) => line.includes("store_full"));
      expect(lines.length).toBeLessThanOrEqual(2);
    }));

  it("init_worker() forgotten", () =>
    withKit("forgotten", async (kit) => {
      const backends = await kit.backends(2);
      const gateway = await kit.gateway({
        balancer: "none",
        servers: backends,
        http: `lua_shared_dict ax 1m;
          init_by_lua_block { require("resty.ax").init({ upstreams = { backend = {} } }) }
          log_by_lua_block { require("resty.ax").log() }`,
        upstream: 'balancer_by_lua_block { require("resty.ax").balancer("backend") }',
        server: 'location /ax/ { content_by_lua_block { require("resty.ax").api() } }',
      });
      await expectService(gateway);
      const answer = await gateway.get("/ax/v1/upstreams");
      expect(answer.status).toBe(503);
      expect(answer.text).toContain("init_worker()");
      expect(gateway.errorLog()).toContain("init_worker() has not run");
    }));
});

describe("bad configuration", () => {
  it("stops the start and names all five mistakes", async () => {
    const { startupError } = await import("../../ts-src/node/testkit");
    await withKit("mistakes", async (kit) => {
      const backend = await kit.backend();
      const text = await startupError({
        servers: [backend],
        parent_dir: kit.dir,
        ax: {
          upstreams: {
            backend: { stratgy: "adaptive", ramp_s: -1, weight_step: "fast" },
            missing: {},
          },
          flush_interval_ms: 5,
        },
      });
      expect(text).toContain("5 problems");
      expect(text).toMatch(/upstreams\.backend\.stratgy.*did you mean "strategy"/);
      expect(text).toMatch(/upstreams\.backend\.ramp_s.*-1/);
      expect(text).toMatch(/upstreams\.backend\.weight_step.*"fast"/);
      expect(text).toMatch(/upstreams\.missing/);
      expect(text).toMatch(/flush_interval_ms.*20/);
    });
  });

  it.each([
    ["a strategy", { strategy: "adaptve" }, /backend\.strategy: "adaptve".*did you mean "adaptive"/],
    ["a hash key", { strategy: "affinity", hash_key: "headr:X-User" }, /backend\.hash_key.*headr:X-User/],
    ["a preset", { strategy: "goal", strategy_options: { goal: "latncy" } }, /goal: "latncy".*did you mean "latency"/],
    ["an option", { strategy_options: { scan_limits: 5 } }, /scan_limits.*did you mean "scan_limit"/],
    ["a module", { strategy_module: "not_there" }, /strategy_module: cannot load "not_there"/],
  ])("names %s that is not known", (_, options, message) =>
    withKit("unknown-name", async (kit) => {
      const { startupError } = await import("../../ts-src/node/testkit");
      const backend = await kit.backend();
      const text = await startupError({
        servers: [backend],
        parent_dir: kit.dir,
        ax: { upstreams: { backend: options } },
      });
      expect(text).toMatch(message);
    }),
  );

  it("on a reload keeps the old workers serving", () =>
    withKit("bad-reload", async (kit) => {
      const gateway = await kit.gateway({ servers: await kit.backends(2) });
      await expect(gateway.reload({ ax: { upstreams: { backend: { strategy: "best" } } } })).rejects.toThrow(
        /strategy/,
      );
      await expectService(gateway);
      expect((await statusOf(gateway)).upstreams[0].strategy).toBe("adaptive");
    }));
});
