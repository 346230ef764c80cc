import { describe, expect, it } from "vitest";
import { type Gateway, pause, startupError, waitFor, withKit } from "../../ts-src/node/testkit";
import { deafServer, endless, OK, rawServer, tlsServer } from "./probe_servers";

interface Probe {
  verdict: "unknown" | "pass" | "fail";
  why: string;
  age_s: number;
  failed_in_row: number;
  took_ms?: number;
  watermark?: number;
  queue_depth?: number;
  signals?: Record<string, number>;
}

interface Upstream {
  probes?: { checks: number; failed: number; void: number; pass_rate?: number; running: number };
  nodes: { id: string; probe?: Probe }[];
}

const FAST = { tcp_interval_s: 0, timeout_s: 1, http: { interval_s: 1 } };

function ax(probe: unknown, more: object = {}): unknown {
  return { upstreams: { backend: { probe, ...more } } };
}

async function upstreamOf(gateway: Gateway): Promise<Upstream> {
  return ((await gateway.status()) as { upstreams: Upstream[] }).upstreams[0];
}

/** Waits until the nodes' checks have come to these verdicts. */
async function waitForVerdicts(gateway: Gateway, verdicts: (string | undefined)[]): Promise<(Probe | undefined)[]> {
  let seen: Upstream | undefined;
  try {
    return await waitFor(
      "verdicts",
      async () => {
        seen = await upstreamOf(gateway);
        const probes = seen.nodes.map((node) => node.probe);
        return probes.every((probe, i) => probe?.verdict === verdicts[i]) && probes;
      },
      60_000,
    );
  } catch (error) {
    throw new Error(`${String(error)}; last: ${JSON.stringify(seen)}`, { cause: error });
  }
}

describe("checks of nodes", () => {
  it("tell healthy, failing and dead nodes apart, by IPv4, IPv6 and unix socket, over connections of their own", () =>
    withKit("probe-kinds", async (kit) => {
      const plain = await kit.backend();
      const v6 = await kit.backend({ host: "[::1]" });
      const unix = await kit.backend({ host: "unix" });
      const failing = await kit.backend({ settings: { error_share: 1, error_status: 503 } });
      const dead = await kit.backend();
      await dead.kill();
      const servers = [plain, v6, unix, failing, dead];
      const gateway = await kit.gateway({ servers, workers: 2, ax: ax({ ...FAST, tcp_interval_s: 1 }) });
      const probes = await waitForVerdicts(gateway, ["pass", "pass", "pass", "fail", "fail"]);
      expect(probes[0]?.why).toMatch(/^(HTTP 200|TCP connection) in \d+ ms$/);
      expect(probes[3]?.why).toMatch(/^HTTP 503 in \d+ ms \(200-299 is expected\)$/);
      expect(probes[4]?.why).toMatch(/^connect: connection refused after \d+ ms$/);
      // Two requests of users, one idle connection kept: checks go on to open their own, and leave it alone.
      await plain.resetCounters();
      await waitFor("five checks", async () => (await plain.counters()).requests >= 5);
      const { connections, requests } = await plain.counters();
      expect(connections).toBe(requests);
      expect((await upstreamOf(gateway)).probes?.pass_rate).toBeGreaterThan(0);
    }));

  it("go round a node that hangs", () =>
    withKit("probe-hang", async (kit) => {
      const backends = await kit.backends(4);
      const gateway = await kit.gateway({ servers: backends, ax: ax({ ...FAST, max_concurrent: 2 }) });
      backends[3].pause();
      await waitForVerdicts(gateway, ["pass", "pass", "pass", "fail"]);
      await Promise.all(backends.slice(0, 3).map((backend) => backend.resetCounters()));
      const failed_before = (await upstreamOf(gateway)).nodes[3].probe?.failed_in_row ?? 0;
      await waitFor("three more hanging checks", async () => {
        return ((await upstreamOf(gateway)).nodes[3].probe?.failed_in_row ?? 0) >= failed_before + 3;
      });
      for (const backend of backends.slice(0, 3)) expect((await backend.counters()).requests).toBeGreaterThanOrEqual(2);
      expect((await upstreamOf(gateway)).nodes[3].probe?.why).toMatch(/no answer after \d+ ms/);
      backends[3].resume();
      await waitForVerdicts(gateway, ["pass", "pass", "pass", "pass"]);
    }));

  it("stand whatever is answered", () =>
    withKit("probe-hostile", async (kit) => {
      const servers = await Promise.all([
        rawServer((socket) => socket.end(OK)),
        rawServer((socket) => socket.end("SSH-2.0-OpenSSH_9.2\r\n")),
        rawServer(endless("X-Junk: yes\r\n", 1)),
        rawServer(endless("y", 100)),
        rawServer((socket) => socket.destroy()),
        rawServer((socket) => socket.end("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nshort")),
        rawServer((socket) => {
          const head =
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nX-AX-Watermark: 0.93\r\nX-AX-Queue-Depth: 17\r\n";
          const orca = "endpoint-load-metrics: TEXT cpu_utilization=0.5\r\n\r\n";
          socket.write(`HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n${head}${orca}2\r\n`);
          setTimeout(() => socket.end("ok\r\n0\r\n\r\n"), 20);
        }),
      ]);
      const deaf = await deafServer();
      try {
        const lines = [...servers.map((server) => server.port), deaf.port].map((port) => `127.0.0.1:${port}`);
        const gateway = await kit.gateway({ servers: lines, ax: ax(FAST) });
        const verdicts = ["pass", ...Array<string>(7).fill("fail")];
        const probes = await waitForVerdicts(gateway, verdicts);
        const why = probes.map((probe) => probe?.why ?? "");
        expect(why[1]).toMatch(/no HTTP answer: it begins with "SSH-2.0-OpenSSH_9.2"/);
        expect(why[2]).toMatch(/more than 16384 bytes of headers|then its rest: no answer after/);
        expect(why[3]).toMatch(/then its rest: no answer after/);
        expect(why[4]).toMatch(/closed without an answer|connection reset/);
        expect(why[5]).toMatch(/closed in the middle of the answer/);
        expect(why[6]).toMatch(/HTTP 200 in \d+ ms, but watermark 93 % \(limit 85 %\)/);
        expect(probes[6]).toMatchObject({ watermark: 0.93, queue_depth: 17, signals: { cpu_utilization: 0.5 } });
        expect(why[7]).toMatch(/^connect: no answer after/);
      } finally {
        deaf.close();
        await Promise.all(servers.map((server) => server.close()));
      }
    }));

  it("match the body, by a regular expression", () =>
    withKit("probe-body", async (kit) => {
      const good = await rawServer((socket) =>
        socket.end('HTTP/1.1 200 OK\r\nContent-Length: 17\r\n\r\n{"status": "UP"}\n'),
      );
      const bad = await rawServer((socket) => socket.end(OK));
      try {
        const lines = [good, bad].map((server) => `127.0.0.1:${server.port}`);
        const http = { interval_s: 1, body_regex: '"status":\\s*"(UP|ok)"' };
        const gateway = await kit.gateway({ servers: lines, ax: ax({ ...FAST, http }) });
        const probes = await waitForVerdicts(gateway, ["pass", "fail"]);
        expect(probes[1]?.why).toMatch(/HTTP 200 in \d+ ms, but its body does not match body_regex/);
      } finally {
        await Promise.all([good.close(), bad.close()]);
      }
    }));

  it("speak TLS, with the name asked for, and verify certificates when told to", () =>
    withKit("probe-tls", async (kit) => {
      const server = await tlsServer("app.internal");
      try {
        const http = { interval_s: 1, tls: true, tls_server_name: "app.internal" };
        const options = { servers: [`127.0.0.1:${server.port}`], ax: ax({ ...FAST, http }) };
        const gateway = await kit.gateway(options);
        await waitForVerdicts(gateway, ["pass"]);
        expect(new Set(server.names)).toEqual(new Set(["app.internal"]));
        const strict = ax({ ...FAST, http: { ...http, tls_verify: true } });
        await gateway.reload({ ax: strict });
        const [untrusted] = await waitForVerdicts(gateway, ["fail"]);
        expect(untrusted?.why).toMatch(/^TLS handshake: .*self.signed/);
        const trust = `lua_ssl_trusted_certificate ${server.cert_path};`;
        await gateway.reload({ ax: strict, http: trust });
        await waitForVerdicts(gateway, ["pass"]);
        const other = ax({ ...FAST, http: { ...http, tls_verify: true, tls_server_name: "other.internal" } });
        await gateway.reload({ ax: other, http: trust });
        const [misnamed] = await waitForVerdicts(gateway, ["fail"]);
        expect(misnamed?.why).toMatch(/^TLS handshake: .*mismatch/);
      } finally {
        await server.close();
      }
    }));

  it("of 500 nodes are spread over the interval, and each node has its own; those that hang delay no other", () =>
    withKit("probe-500", async (kit) => {
      const addresses = Array.from({ length: 500 }, (_, i) => `127.0.${1 + Math.floor(i / 250)}.${1 + (i % 250)}`);
      // Each hangs for the whole time-out: of 32 places at a time they may have 16.
      const hanging = addresses.filter((_, i) => i % 50 === 7);
      const server = await rawServer((socket) => {
        if (!hanging.includes(socket.localAddress ?? "")) socket.end(OK);
      }, "0.0.0.0");
      try {
        const servers = addresses.map((address) => `${address}:${server.port}`);
        const probe = { tcp_interval_s: 0, timeout_s: 2, http: { interval_s: 5 } };
        const gateway = await kit.gateway({ servers, ax: ax(probe) });
        await waitForVerdicts(
          gateway,
          addresses.map((address) => (hanging.includes(address) ? "fail" : "pass")),
        );
        await waitFor(
          "two checks of each",
          () => addresses.every((address) => server.connections[address] >= 2),
          60_000,
        );
        expect(server.most_open).toBeLessThanOrEqual(32);
        const counts = Object.values(server.connections);
        expect(Math.max(...counts) - Math.min(...counts)).toBeLessThanOrEqual(2);
      } finally {
        await server.close();
      }
    }));

  it(
    "end at once at a reload, and go on from the same verdicts",
    () =>
      withKit("probe-reload", async (kit) => {
        const hanging = await rawServer(() => undefined);
        const backend = await kit.backend();
        try {
          const probe = { tcp_interval_s: 0, timeout_s: 50, http: { interval_s: 50 } };
          const servers = [backend.address, `127.0.0.1:${hanging.port}`];
          const gateway = await kit.gateway({ servers, ax: ax(FAST) });
          await waitForVerdicts(gateway, ["pass", "fail"]);
          await gateway.reload();
          const status = await upstreamOf(gateway);
          expect(status.nodes.map((node) => node.probe?.verdict)).toEqual(["pass", "fail"]);
          await gateway.reload({ ax: ax({ ...probe, http: { interval_s: 50 } }) });
          await waitFor(
            "a check that hangs",
            async () => ((await upstreamOf(gateway)).probes?.running ?? 0) > 0,
            60_000,
          );
          const began = performance.now();
          await gateway.reload({ ax: ax(FAST) });
          await gateway.waitForRetired();
          // Far less than the 50 s that the check would have had.
          expect(performance.now() - began).toBeLessThan(25_000);
        } finally {
          await hanging.close();
        }
      }),
    150_000,
  );

  it("are none without the option", () =>
    withKit("probe-off", async (kit) => {
      const backend = await kit.backend();
      const gateway = await kit.gateway({ servers: [backend] });
      await waitFor("the collector", async () => (await gateway.collectorPid()) !== undefined);
      await pause(1500);
      const status = await upstreamOf(gateway);
      expect(status.probes).toBeUndefined();
      expect(status.nodes[0].probe).toBeUndefined();
      expect((await backend.counters()).requests).toBe(0);
    }));
});

describe("a configuration of checks that cannot work", () => {
  it("is refused at the start, with every mistake named", async () => {
    const http = { path: "health z", interval_s: 1, body_regex: "(ok", expected_status: [200, "2xx"] };
    const output = await startupError({ servers: ["127.0.0.1:9"], ax: ax({ timeout_s: 5, http }) });
    expect(output).toContain('probe.http.path: "health z" does not start with "/"');
    expect(output).toMatch(
      /probe\.http\.interval_s: 1 s is less than timeout_s, which is 5 s: .* at least 5 s is needed/,
    );
    expect(output).toMatch(/probe\.tcp_interval_s: 3 s \(the default\) is less than timeout_s/);
    expect(output).toMatch(/probe\.http\.body_regex: "\(ok" does not compile: .*missing/);
    expect(output).toContain('probe.http.expected_status[2]: "2xx" is no status code');
  });
});
