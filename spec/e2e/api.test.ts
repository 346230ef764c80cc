import { request as httpRequest } from "node:http";
import { describe, expect, it } from "vitest";
import { type Gateway, type HttpAnswer, waitFor, withKit } from "../../ts-src/node/testkit";
import { failures, type NodeStatus, nodesOf, picksOf, startLoad, statusOf, waitForStatus } from "./support";

const JSON_TYPE = { "Content-Type": "application/json" };

function pathOf(id: string): string {
  return `/ax/v1/upstreams/backend/nodes/${id}`;
}

function patch(gateway: Gateway, id: string, body: unknown, headers: Record<string, string> = JSON_TYPE) {
  return gateway.get(pathOf(id), { method: "PATCH", headers, body });
}

function errorOf(answer: HttpAnswer): { status: number; code: string; text: string; href: string } {
  return (JSON.parse(answer.text) as { error: ReturnType<typeof errorOf> }).error;
}

function operators(nodes: NodeStatus[]): (string | undefined)[] {
  return nodes.map((node) => (node as { operator?: { kind: string } }).operator?.kind);
}

/** A request whose path is sent as it stands, which URL would tidy up. */
function raw(gateway: Gateway, path: string, method: string, body: Buffer, headers: Record<string, string>) {
  return new Promise<HttpAnswer>((resolve, reject) => {
    const options = { host: "127.0.0.1", port: gateway.port, path, method, headers, agent: false };
    const request = httpRequest(options, (response) => {
      let text = "";
      response.on("data", (part) => (text += String(part)));
      response.on("end", () => resolve({ status: response.statusCode ?? 0, headers: response.headers, text }));
    });
    request.on("error", reject);
    request.end(body);
  });
}

describe("the operator's will through the API", () => {
  it("drains under load without a failed request, over a reload, and gives the node back", () =>
    withKit("drain", async (kit) => {
      const backends = await kit.backends(3, { settings: { delay: { dist: "fixed", mean_ms: 5 } } });
      const gateway = await kit.gateway({ workers: 2, servers: backends });
      const [a] = backends;
      const load = startLoad(gateway, 25, { reconnect: true });
      await waitForStatus(gateway, "traffic", (nodes) => nodes[0].totals.ok > 50);
      const answer = await patch(gateway, a.address, { drain: true, why: "update", by: "spec" });
      expect(answer.status).toBe(200);
      expect(JSON.parse(answer.text)).toMatchObject({
        id: a.address,
        operator: { kind: "drain", why: "update", by: "spec" },
      });
      await waitForStatus(gateway, "the drain's end", (nodes) => String(nodes[0].state) === "offline");
      await a.resetCounters();
      await gateway.reload();
      await waitForStatus(gateway, "traffic after the reload", (nodes) => nodes[1].totals.ok > 200);
      await waitForStatus(gateway, "still offline", (nodes) => String(nodes[0].state) === "offline");
      expect((await a.counters()).requests).toBe(0);
      expect((await patch(gateway, a.address, { drain: false })).status).toBe(200);
      await waitForStatus(gateway, "requests again", (nodes) => nodes[0].state === "ramping");
      await waitFor("requests at the node", async () => (await a.counters()).requests > 0);
      expect(failures(await load.done)).toBe(0);
      expect((await statusOf(gateway)).faults).toEqual({});
      expect(gateway.errorLog()).toContain(`node "${a.address}": drained by the operator (spec): update`);
    }));

  it("ends by itself, and forces up what is ejected", () =>
    withKit("force", async (kit) => {
      const backends = await kit.backends(2);
      const gateway = await kit.gateway({ servers: backends, server_params: "fail_timeout=600s" });
      const id = backends[0].address;
      await backends[0].kill();
      // Called dead when it answered nothing for a short window.
      const load = startLoad(gateway, 16);
      await waitForStatus(gateway, "an ejection", (nodes) => nodes[0].state === "ejected");
      await backends[0].restart();
      await patch(gateway, id, { force: "up", for_s: 2 });
      await waitForStatus(gateway, "force up", (nodes) => String(nodes[0].state) === "online");
      const before = (await picksOf(gateway))[id];
      await waitFor("picks", async () => (await picksOf(gateway))[id] > before + 20);
      await waitForStatus(gateway, "its end", (nodes) => operators(nodes)[0] === undefined);
      await load.done;
    }));

  it("takes changes to different nodes at the same time, in different workers, without losing any", () =>
    withKit("concurrent", async (kit) => {
      const [backend] = await kit.backends(1);
      const nodes = Array.from({ length: 60 }, (_, k) => ({ name: `n${k}`, address: `127.0.0.1:${k + 1}` }));
      nodes.push({ name: "real", address: backend.address });
      const gateway = await kit.gateway({
        workers: 2,
        servers: [backend],
        ax: { upstreams: { backend: { nodes } } },
      });
      for (const [body, kind] of [
        [{ drain: true }, "drain"],
        [{ force: "down", why: "x" }, "force_down"],
        [{ force: null }, undefined],
      ] as const) {
        const answers = await Promise.all(nodes.map((node) => patch(gateway, node.name, body)));
        expect(answers.map((answer) => answer.status)).toEqual(nodes.map(() => 200));
        expect(operators(await nodesOf(gateway))).toEqual(nodes.map(() => kind));
      }
    }));

  it("answers 503 when the dict is full, changing nothing; what was set before can be changed and taken back", () =>
    withKit("full", async (kit) => {
      const backends = await kit.backends(2);
      const fill = `content_by_lua_block {
        local n = 0
        for _, size in ipairs({ 4000, 1000, 700, 400, 100, 30, 8 }) do
          repeat
            n = n + 1
            local ok = ngx.shared.ax:safe_set("fill" .. n, string.rep("x", size))
          until not ok
        end
        ngx.say(n) }`;
      const gateway = await kit.gateway({
        servers: backends,
        shared_dict_size: "1m",
        server: `location = /fill { ${fill} }`,
      });
      const [a, b] = backends.map((backend) => backend.address) as [string, string];
      expect((await patch(gateway, a, { drain: true })).status).toBe(200);
      expect((await gateway.get("/fill")).status).toBe(200);
      const refused = await waitFor("a full dict", async () => {
        const answer = await patch(gateway, b, { drain: true });
        return answer.status === 503 ? answer : undefined;
      });
      expect(errorOf(refused).code).toBe("StoreFull");
      expect(operators(await nodesOf(gateway))).toEqual(["drain", undefined]);
      expect((await patch(gateway, a, { force: "down", why: "y".repeat(200), for_s: 1000 })).status).toBe(200);
      expect(operators(await nodesOf(gateway))).toEqual(["force_down", undefined]);
      expect((await patch(gateway, a, { force: null })).status).toBe(200);
      expect(operators(await nodesOf(gateway))).toEqual([undefined, undefined]);
      expect((await gateway.get("/")).status).toBe(200);
    }));
});

describe("the API and hostile input", () => {
  it("refuses it with the reason, changes nothing and serves on", () =>
    withKit("hostile", async (kit) => {
      const backends = await kit.backends(2);
      const gateway = await kit.gateway({
        servers: backends,
        location: "",
        server: `location /show/ { content_by_lua_block { require("resty.ax").api({ read_only = true }) } }
          location /typo/ { content_by_lua_block { require("resty.ax").api({ readonly = true }) } }
          location /spool/ { client_body_in_file_only clean; content_by_lua_block { require("resty.ax").api() } }
          location /large/ { client_max_body_size 64m; content_by_lua_block { require("resty.ax").api() } }`,
      });
      const id = backends[0].address;
      const node = `/v1/upstreams/backend/nodes/${id}`;
      const send = (
        path: string,
        body: string | Buffer,
        headers: Record<string, string> = JSON_TYPE,
        method = "PATCH",
      ) => raw(gateway, path, method, Buffer.from(body), { ...headers });
      const refused = async (answer: Promise<HttpAnswer>, status: number, code: string, text = "") => {
        const { text: body, status: got } = await answer;
        expect({ got, body: body.slice(0, 300) }).toMatchObject({ got: status });
        const error = errorOf({ text: body, status: got, headers: {} });
        expect(error).toMatchObject({ status, code });
        expect(error.text).toContain(text);
      };
      const megabyte = JSON.stringify({ drain: true, why: "x".repeat(1 << 20) });
      await refused(send(`/large${node}`, megabyte), 413, "BodyTooLarge");
      await refused(
        send(`/large${node}`, megabyte, { ...JSON_TYPE, "Transfer-Encoding": "chunked" }),
        413,
        "BodyTooLarge",
      );
      await refused(send(`/ax${node}`, `{"why":"${"x".repeat(20_000)}"}`), 413, "BodyTooLarge");
      await refused(send(`/ax${node}`, Buffer.from([0x7b, 0xff, 0xfe, 0x7d])), 400, "BodyNotJson");
      await refused(send(`/ax${node}`, `{"drain":${"[".repeat(5000)}`), 400, "BodyNotJson");
      await refused(send(`/ax${node}`, "["), 400, "BodyNotJson");
      await refused(send(`/ax${node}`, ""), 400, "BodyNotJson");
      await refused(send(`/ax${node}`, '{"drain":true}', {}), 415, "UnsupportedMediaType");
      const form = { "Content-Type": "application/x-www-form-urlencoded" };
      await refused(send(`/ax${node}`, '{"drain":true}', form), 415, "UnsupportedMediaType");
      await refused(send(`/ax${node}`, '{"drian":true}'), 400, "UnknownField", 'did you mean "drain"?');
      await refused(send(`/show${node}`, '{"drain":true}'), 405, "MethodDisabled");
      await refused(send(`/ax/v1/upstreams/backend/nodes/%ff`, '{"drain":true}'), 404, "NodeNotFound");
      await refused(send(`/ax/v1/upstreams/..%2f..%2fx/nodes/${id}`, '{"drain":true}'), 404, "PathNotFound");
      await refused(
        send(`/ax/v1/upstreams/back%65nd/nodes/10.9.9.9:1`, '{"drain":true}'),
        404,
        "NodeNotFound",
        `"${id}"`,
      );
      await refused(send(`/ax/nothing`, "", {}, "GET"), 404, "PathNotFound", "try /ax/v1/upstreams,");
      await refused(send(`/ax${node}`, "", {}, "DELETE"), 405, "MethodNotAllowed", "GET, HEAD, PATCH");
      await refused(send(`/typo/v1/upstreams`, "", {}, "GET"), 500, "InternalError");
      expect((await send(`/ax/../../etc/passwd`, "", {}, "GET")).status).toBe(400);
      expect(operators(await nodesOf(gateway))).toEqual([undefined, undefined]);

      expect((await send(`/spool${node}`, '{"drain":true}')).status).toBe(200);
      expect(operators(await nodesOf(gateway))).toEqual(["drain", undefined]);
      const encoded = `/ax/v1/upstreams/backend/nodes/${encodeURIComponent(id)}`;
      expect(
        (await send(encoded, '{"drain":false}', { "Content-Type": "Application/JSON; charset=utf-8" })).status,
      ).toBe(200);
      expect(operators(await nodesOf(gateway))).toEqual([undefined, undefined]);

      const head = await send(`/ax${node}`, "", {}, "HEAD");
      expect([head.status, head.text, head.headers["content-type"]]).toEqual([200, "", "application/json"]);
      const pretty = (await gateway.get(`/ax/v1/upstreams?pretty`)).text;
      const plain = (await gateway.get(`/ax/v1/upstreams`)).text;
      expect(pretty).toContain('\n  "shared_dict": {');
      expect(Object.keys(JSON.parse(plain) as object)).toEqual(Object.keys(JSON.parse(pretty) as object));
      expect(plain).not.toContain("\\/");
      const { faults } = await statusOf(gateway);
      expect(Object.keys(faults)).toEqual(["api"]);
      expect(faults["api"].last_message).toContain('no option "readonly"; did you mean "read_only"?');
    }));

  it("bears ten thousand changes", () =>
    withKit("many", async (kit) => {
      const backends = await kit.backends(2);
      const gateway = await kit.gateway({ workers: 2, servers: backends });
      const id = backends[0].address;
      const total = 10_000;
      let sent = 0;
      const client = async (): Promise<void> => {
        for (let k = sent++; k < total; k = sent++) {
          const answer = await patch(gateway, id, k % 2 === 0 ? { drain: true, why: `w${k}` } : { drain: false });
          if (answer.status !== 200) throw new Error(`${answer.status}: ${answer.text}`);
        }
      };
      await Promise.all(Array.from({ length: 8 }, client));
      await patch(gateway, id, { drain: false });
      await waitForStatus(gateway, "the node back", (nodes) => ["online", "ramping"].includes(nodes[0].state));
      expect((await gateway.get("/")).status).toBe(200);
      expect((await statusOf(gateway)).faults).toEqual({});
    }));
});
