import { spawn, spawnSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { Agent } from "node:http";
import { connect } from "node:net";
import { join } from "node:path";
import { describe, expect, test, vi } from "vitest";
import {
  type Backend,
  type BackendSettings,
  checkGateway,
  findNginx,
  type GatewayOptions,
  http,
  isAlive,
  type Kit,
  NginxStartError,
  runOpenLoop,
  runWrk,
  startupError,
  waitFor,
  withKit,
} from "../../ts-src/node/testkit";
import { inspectNginx } from "../../ts-src/node/testkit/nginx";
import { despitePortRaces } from "../../ts-src/node/testkit/server";
import { ROOT } from "../../ts-src/node/testkit/workdir";

/** A test with a kit of its own. */
function kitTest(name: string, body: (kit: Kit) => void | Promise<void>): void {
  test(name, () => withKit(name, body));
}

/** `count` requests, `at_once` side by side; their statuses. */
async function requestMany(url: string, count: number, at_once: number): Promise<number[]> {
  const agent = new Agent({ keepAlive: true, maxSockets: at_once });
  const requests = Array.from({ length: count }, () => http(url, { agent, timeout_ms: 60_000 }));
  const statuses = (await Promise.all(requests)).map((answer) => answer.status);
  agent.destroy();
  return statuses;
}

const url = (backend: Backend): string => `http://${backend.address}/`;

describe("a backend", () => {
  kitTest("names itself in header and body", async (kit) => {
    const backend = await kit.backend({ name: "alpha" });
    const answer = await http(url(backend));
    expect(answer).toMatchObject({ status: 200, text: "alpha\n" });
    expect(answer.headers["x-backend"]).toBe("alpha");
  });

  kitTest("does not count as worked on whose client left before it began", async (kit) => {
    const backend = await kit.backend({ settings: { delay: { dist: "fixed", mean_ms: 300 } } });
    backend.pause();
    // Three clients come and go while it does not look; for nginx, request and end come as one.
    for (let k = 0; k < 3; k++) {
      const socket = connect(backend.port, "127.0.0.1");
      await new Promise<void>((resolve) => socket.end("GET / HTTP/1.1\r\nHost: x\r\n\r\n", () => resolve()));
      socket.destroy();
    }
    const stays = http(url(backend));
    backend.resume();
    expect((await stays).status).toBe(200);
    await waitFor("all to have come", async () => (await backend.counters()).requests === 4);
    expect((await backend.counters()).max_active).toBe(1);
  });

  // Mean of the distribution in theory, and bounds that 2000 draws stay well within.
  const distributions: [BackendSettings["delay"], number][] = [
    [{ dist: "fixed", mean_ms: 2 }, 2],
    [{ dist: "exp", mean_ms: 3 }, 3],
    [{ dist: "exp", p99_ms: 10 }, 10 / Math.log(100)],
    [{ dist: "uniform", min_ms: 1, max_ms: 5 }, 3],
    [{ dist: "lognormal", p50_ms: 2, p99_ms: 8 }, 2 * Math.exp((Math.log(4) / 2.3263) ** 2 / 2)],
    [{ dist: "bimodal", fast_mean_ms: 1, slow_mean_ms: 20, slow_share: 0.05 }, 0.95 * 1 + 0.05 * 20],
  ];
  for (const [delay, mean_ms] of distributions) {
    kitTest(`draws delays as ${JSON.stringify(delay)} says`, async (kit) => {
      const backend = await kit.backend({ settings: { delay } });
      await requestMany(url(backend), 2000, 50);
      const { delays, delay_sum_ms } = await backend.counters();
      expect(delays).toBe(2000);
      expect(delay_sum_ms / delays).toBeGreaterThan(mean_ms * 0.8);
      expect(delay_sum_ms / delays).toBeLessThan(mean_ms * 1.2);
    });
  }

  kitTest("takes at least the time it is told to take", async (kit) => {
    const backend = await kit.backend({ settings: { delay: { dist: "fixed", mean_ms: 50 } } });
    const start_ms = performance.now();
    await http(url(backend));
    // Its timer may fire up to a clock tick early.
    expect(performance.now() - start_ms).toBeGreaterThanOrEqual(48);
  });

  kitTest("fails the share of requests it is told to fail, with the status it is told", async (kit) => {
    const backend = await kit.backend({ settings: { error_share: 0.25, error_status: 503, error_delay_ms: 0 } });
    const statuses = await requestMany(url(backend), 1000, 20);
    const failed = statuses.filter((status) => status === 503).length;
    expect(failed).toBeGreaterThan(180);
    expect(failed).toBeLessThan(320);
    expect((await backend.counters()).by_status).toEqual({ "200": 1000 - failed, "503": failed });
  });

  kitTest("closes the connection without an answer for status 444", async (kit) => {
    const backend = await kit.backend({ settings: { error_share: 1, error_status: 444 } });
    await expect(http(url(backend))).rejects.toThrow(/socket hang up|ECONNRESET/);
  });

  kitTest("hangs: accepts, never answers, and forgets a client that leaves", async (kit) => {
    const backend = await kit.backend({ settings: { hang_share: 1, slots: 1 } });
    const hanging = http(url(backend), { timeout_ms: 60_000 }).catch((error: unknown) => error);
    await waitFor("the request to arrive", async () => (await backend.counters()).active === 1);
    const left = http(url(backend), { timeout_ms: 300 });
    await expect(left).rejects.toThrow(/aborted/);
    await waitFor("the client that left to be forgotten", async () => (await backend.counters()).queued === 0);
    expect(await backend.counters()).toMatchObject({ requests: 2, active: 1, by_status: { "499": 1 } });
    await backend.kill();
    expect(await hanging).toBeInstanceOf(Error);
  });

  kitTest("works on as many requests at a time as it has slots, and the rest wait in a line", async (kit) => {
    const backend = await kit.backend({ settings: { slots: 3, delay: { dist: "fixed", mean_ms: 5 } } });
    const statuses = await requestMany(url(backend), 60, 20);
    expect(statuses.every((status) => status === 200)).toBe(true);
    const counters = await backend.counters();
    expect(counters).toMatchObject({ requests: 60, active: 0, queued: 0, max_active: 3 });
    expect(counters.max_queued).toBeGreaterThan(0);
    expect(counters.max_queued).toBeLessThanOrEqual(17);
  });

  kitTest("lets waiting requests in when it gets more slots", async (kit) => {
    const backend = await kit.backend({ settings: { slots: 1, hang_share: 1 } });
    const requests = [1, 2, 3].map(() => http(url(backend)).catch(() => undefined));
    await waitFor("one to hang and two to wait", async () => (await backend.counters()).queued === 2);
    await backend.set({ slots: 3 });
    expect(await backend.counters()).toMatchObject({ active: 3, queued: 0 });
    await backend.kill();
    await Promise.all(requests);
  });

  kitTest("sends the first byte at once and the rest of a slow body in pieces", async (kit) => {
    const settings = { body_bytes: 1000, body_chunks: 5, body_interval_ms: 20 };
    const backend = await kit.backend({ settings });
    const socket = connect(backend.port, "127.0.0.1");
    socket.write("GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
    let received = "";
    let reads = 0;
    for await (const part of socket) {
      received += String(part);
      reads++;
    }
    expect(received.split("\r\n\r\n")[1]).toHaveLength(1000);
    expect(reads).toBeGreaterThan(1);
  });

  kitTest("echoes after an upgrade", async (kit) => {
    const backend = await kit.backend();
    const socket = connect(backend.port, "127.0.0.1");
    let received = "";
    socket.on("data", (part) => (received += String(part)));
    socket.write("GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n");
    await waitFor("101", () => received.includes("\r\n\r\n"));
    expect(received).toMatch(/^HTTP\/1.1 101 /);
    socket.write("hello");
    await waitFor("the echo", () => received.endsWith("\r\n\r\nhello"));
    socket.destroy();
    await waitFor("the end of the connection", async () => (await backend.counters()).active === 0);
    expect(await backend.counters()).toMatchObject({ requests: 1, upgrades: 1 });
  });

  kitTest("counts requests and connections exactly, control requests not at all, and resets", async (kit) => {
    const backend = await kit.backend();
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    for (let i = 0; i < 7; i++) await http(url(backend), { agent });
    await http(url(backend));
    agent.destroy();
    expect(await backend.counters()).toMatchObject({ requests: 8, connections: 2, by_status: { "200": 8 } });
    await backend.resetCounters();
    expect(await backend.counters()).toMatchObject({ requests: 0, connections: 0, by_status: {} });
  });

  kitTest("refuses settings it does not know, naming what is allowed, and changes nothing", async (kit) => {
    const backend = await kit.backend();
    const before = await backend.settings();
    const wrong = [{ error_share: 2 }, { speed: 1 }, { delay: { dist: "exp" } }, { delay: { dist: "normal" } }];
    const changes = wrong as unknown as Partial<BackendSettings>[];
    await expect(backend.set(changes[0] ?? {})).rejects.toThrow(/400 .*error_share is 2: a number from 0 to 1/);
    await expect(backend.set(changes[1] ?? {})).rejects.toThrow(/speed is not a setting/);
    await expect(backend.set(changes[2] ?? {})).rejects.toThrow(/delay.mean_ms is nil/);
    await expect(backend.set(changes[3] ?? {})).rejects.toThrow(/delay.dist is normal: fixed, exp/);
    expect(await backend.settings()).toEqual(before);
  });

  for (const host of ["127.0.0.1", "unix"]) {
    kitTest(`comes back at the same address (${host}), with its settings, after kill -9`, async (kit) => {
      const backend = await kit.backend({ name: "phoenix", host });
      const gateway = await kit.gateway({ balancer: "none", servers: [backend] });
      await backend.set({ error_share: 1, error_status: 418 });
      expect((await gateway.get("/")).status).toBe(418);
      const pid = backend.pid();
      await backend.kill();
      expect(backend.isAlive()).toBe(false);
      expect((await gateway.get("/")).status).toBe(502);
      await backend.restart();
      expect(backend.pid()).not.toBe(pid);
      expect((await gateway.get("/")).status).toBe(418);
      expect((await backend.counters()).requests).toBe(1);
    });
  }

  kitTest("keeps connections open but answers nothing while it is paused", async (kit) => {
    const backend = await kit.backend();
    backend.pause();
    await expect(http(url(backend), { timeout_ms: 200 })).rejects.toThrow(/aborted/);
    backend.resume();
    expect((await http(url(backend))).status).toBe(200);
  });
});

describe("a gateway", () => {
  kitTest("spreads requests over its backends by nginx's round robin", async (kit) => {
    const backends = await kit.backends(3);
    const gateway = await kit.gateway({ balancer: "none", servers: backends });
    await requestMany(`${gateway.url}/`, 30, 3);
    for (const backend of backends) expect((await backend.counters()).requests).toBe(10);
  });

  kitTest("reloads into new workers, with new options, and the old ones end", async (kit) => {
    const [first, second] = await kit.backends(2);
    if (first === undefined || second === undefined) throw new Error("two backends were asked for");
    const gateway = await kit.gateway({ balancer: "none", workers: 2, servers: [first] });
    const old = gateway.workerPids();
    expect(old).toHaveLength(2);
    await gateway.reload({ servers: [second] });
    await gateway.waitForRetired();
    const now = gateway.workerPids();
    expect(now).toHaveLength(2);
    expect(now.filter((pid) => old.includes(pid))).toEqual([]);
    expect((await gateway.get("/")).headers["x-backend"]).toBe(second.name);
  });

  kitTest("says why a reload was refused, and serves on", async (kit) => {
    const backend = await kit.backend();
    const gateway = await kit.gateway({ balancer: "none", servers: [backend] });
    await expect(gateway.reload({ http: "no_such_directive on;" })).rejects.toThrow(/unknown directive "no_such_dir/);
    expect((await gateway.get("/")).status).toBe(200);
    await gateway.reload();
  });

  kitTest("replaces a worker killed with -9", async (kit) => {
    const backend = await kit.backend();
    const gateway = await kit.gateway({ balancer: "none", workers: 2, servers: [backend] });
    const [victim = 0, other] = gateway.workerPids();
    await gateway.killWorker(victim);
    expect(isAlive(victim)).toBe(false);
    expect(gateway.workerPids()).toContain(other);
    expect((await gateway.get("/")).status).toBe(200);
  });

  test("that does not start gives nginx's complaint", async () => {
    const options = {
      balancer: "none",
      servers: ["127.0.0.1:1"],
      http: `init_by_lua_block { error("five mistakes") }`,
    };
    expect(await startupError(options)).toMatch(/five mistakes/);
    expect(await startupError({ ...options, http: "no_such_directive on;" })).toMatch(/unknown directive/);
    expect(await checkGateway({ ...options, http: "" })).toMatchObject({ ok: true });
    expect((await checkGateway({ ...options, http: "nope;" })).output).toMatch(/unknown directive "nope"/);
  });

  kitTest("says so when the port it was told to take is taken", async (kit) => {
    const gateway = await kit.gateway({ balancer: "none", servers: ["127.0.0.1:1"] });
    const options = { balancer: "none", servers: ["127.0.0.1:1"], port: gateway.port };
    expect(await startupError(options)).toMatch(/Address already in use/);
  });

  test("is started again when somebody took its port first", async () => {
    let starts = 0;
    const taken = new NginxStartError("bind() to 127.0.0.1:1 failed (98: Address already in use)", "");
    const started = await despitePortRaces(() => (++starts < 3 ? Promise.reject(taken) : Promise.resolve("started")));
    expect([started, starts]).toEqual(["started", 3]);
  });

  kitTest("has its address space limited, so that a runaway loop cannot take the machine", async (kit) => {
    const gateway = await kit.gateway({ balancer: "none", servers: ["127.0.0.1:1"], memory_limit_mb: 3000 });
    const [worker = 0] = gateway.workerPids();
    const limits = readFileSync(`/proc/${worker}/limits`, "utf8");
    expect(limits).toMatch(new RegExp(`Max address space +${3000 * 1024 * 1024} `));
  });
});

describe("nginx", () => {
  /** A program that answers -V as some nginx would. */
  function pretend(kit: Kit, version_and_arguments: string): string {
    const path = join(kit.dir, "nginx");
    writeFileSync(path, `#!/bin/sh\necho "${version_and_arguments}" >&2\n`, { mode: 0o755 });
    return path;
  }

  kitTest("with Lua built in, as OpenResty has it, needs no modules loaded", (kit) => {
    const said = "nginx version: openresty/1.27.1.2\nconfigure arguments: --add-module=../ngx_lua-0.10.28";
    const bin = pretend(kit, said);
    expect(inspectNginx(bin)).toEqual({ bin, version: "openresty/1.27.1.2", load_modules: "" });
  });

  kitTest("with modules in files, as Debian has it, is told to load them from where it keeps them", (kit) => {
    const bin = pretend(kit, `nginx version: nginx/1.26.3\nconfigure arguments: --modules-path=${kit.dir}`);
    const files = ["ndk_http_module.so", "ngx_http_lua_module.so"].map((file) => join(kit.dir, file));
    expect(inspectNginx(bin)).toBe(`${bin}: no Lua module built in, and no ${files.join(" with ")}`);
    for (const file of files) writeFileSync(file, "");
    const load_modules = files.map((file) => `load_module ${file};`).join("\n");
    expect(inspectNginx(bin)).toEqual({ bin, version: "nginx/1.26.3", load_modules });
  });

  kitTest("is not given the kit's $NGINX, which it would take for a list of sockets to inherit", async (kit) => {
    const options: GatewayOptions = { balancer: "none", servers: ["127.0.0.1:1"] };
    vi.stubEnv("NGINX", findNginx().bin);
    try {
      expect((await kit.gateway(options)).errorLog()).not.toContain("inherited sockets");
      const { ok, output } = await checkGateway(options);
      expect([ok, output]).toEqual([true, expect.not.stringContaining("NGINX")]);
    } finally {
      vi.unstubAllEnvs();
    }
  });
});

describe("load", () => {
  kitTest("from wrk is counted the same by wrk, gateway and backends", async (kit) => {
    const backend = await kit.backend({ settings: { error_share: 0.5, error_status: 500 } });
    const gateway = await kit.gateway({ balancer: "none", servers: [backend], location: "proxy_next_upstream off;" });
    const before_s = gateway.cpuSeconds();
    const result = await runWrk({ url: `${gateway.url}/`, connections: 4, duration_s: 1 });
    const { by_status } = await backend.counters();
    expect(result.requests).toBeGreaterThan(0);
    // Requests that were under way when wrk stopped are counted by the backend only.
    expect((by_status["500"] ?? 0) - result.errors.status).toBeGreaterThanOrEqual(0);
    expect((by_status["500"] ?? 0) - result.errors.status).toBeLessThanOrEqual(4);
    expect(result.p50_ms).toBeLessThanOrEqual(result.p99_ms);
    expect(gateway.cpuSeconds()).toBeGreaterThan(before_s);
  });

  test("from wrk without wrk is one clear line", async () => {
    vi.stubEnv("PATH", "/nonexistent");
    const run = runWrk({ url: "http://127.0.0.1:1/", connections: 1, duration_s: 1 });
    await expect(run).rejects.toThrow("wrk is not installed: apt-get install wrk");
    vi.unstubAllEnvs();
  });

  kitTest("from the open loop keeps its rate while the backend stalls, and feels the stall", async (kit) => {
    const backend = await kit.backend({ settings: { slots: 1, delay: { dist: "fixed", mean_ms: 20 } } });
    // Twice what the one slot can do: the last of 40 waits for about half of the work before it.
    const result = await runOpenLoop({ url: url(backend), rate: 100, count: 40 });
    expect(result).toMatchObject({ requests: 40, by_status: { "200": 40 } });
    expect(result.max_ms).toBeGreaterThan(200);
    expect((await backend.counters()).max_queued).toBeGreaterThan(5);
  });

  test("from the open loop tells refused connections from time-outs", async () => {
    await withKit("refused", async (kit) => {
      const backend = await kit.backend({ settings: { hang_share: 1 } });
      const hanging = await runOpenLoop({ url: url(backend), rate: 100, count: 3, timeout_ms: 100 });
      expect(hanging).toMatchObject({ requests: 0, errors: { timeout: 3, connect: 0 } });
      await backend.kill();
      const refused = await runOpenLoop({ url: url(backend), rate: 100, count: 3 });
      expect(refused).toMatchObject({ requests: 0, errors: { timeout: 0, connect: 3 } });
    });
  });
});

describe("a kit", () => {
  test("removes its files and processes when all went well", async () => {
    let dir = "";
    let pid = 0;
    await withKit("well", async (kit) => {
      dir = kit.dir;
      pid = (await kit.backend()).pid();
    });
    expect(existsSync(dir)).toBe(false);
    expect(isAlive(pid)).toBe(false);
  });

  test("keeps configurations and logs when something failed, and says where", async () => {
    const printed = vi.spyOn(process.stderr, "write").mockReturnValue(true);
    let dir = "";
    let backend_dir = "";
    let pid = 0;
    const run = withKit("badly", async (kit) => {
      dir = kit.dir;
      const backend = await kit.backend();
      backend_dir = backend.dir;
      pid = backend.pid();
      throw new Error("on purpose");
    });
    await expect(run).rejects.toThrow("on purpose");
    expect(printed.mock.calls.flat().join("")).toContain(dir);
    printed.mockRestore();
    expect(isAlive(pid)).toBe(false);
    expect(existsSync(join(backend_dir, "error.log"))).toBe(true);
    spawnSync("rm", ["-rf", dir]);
  });

  for (const signal of ["SIGINT", "SIGKILL"] as const) {
    test(`leaves no process behind when its program is ended by ${signal}`, async () => {
      const program = `
        const { newKit } = await import("./ts-src/node/testkit/index.ts");
        const kit = newKit("ended");
        const backend = await kit.backend();
        const gateway = await kit.gateway({ balancer: "none", workers: 2, servers: [backend] });
        console.log(JSON.stringify([kit.dir, backend.pid(), gateway.masterPid(), ...gateway.workerPids()]));
        setInterval(() => {}, 1000);`;
      const child = spawn(process.execPath, ["--import", "tsx", "--input-type=module", "-e", program], { cwd: ROOT });
      let output = "";
      child.stdout.on("data", (part: Buffer) => (output += part.toString()));
      await waitFor("the program to start its processes", () => output.endsWith("]\n"), 60_000);
      const [dir, ...pids] = JSON.parse(output) as [string, ...number[]];
      expect(pids).toHaveLength(4);
      child.kill(signal);
      await waitFor("its processes to end", () => pids.every((pid) => !isAlive(pid)));
      spawnSync("rm", ["-rf", dir]);
    });
  }
});
