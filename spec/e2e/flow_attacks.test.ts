import { type ClientHttp2Session, type ClientHttp2Stream, connect as connectH2, constants } from "node:http2";
import { connect, type Socket } from "node:net";
import { describe, expect, it } from "vitest";
import { type Backend, freePort, type Gateway, type HttpAnswer, waitFor, withKit } from "../../ts-src/node/testkit";
import { statusOf, waitForIdle } from "./support";

const ABORT = "lua_check_client_abort on;";
const ACCESS = 'access_by_lua_block { require("resty.ax").access("backend") }';

function upstream(backends: Backend[], limit: number, more: object = {}): unknown {
  const nodes = backends.map(({ address }) => ({ address, max_conns: limit }));
  return { upstreams: { backend: { nodes, queue: { size: 1000, timeout_ms: 60_000 }, ...more } } };
}

async function waiting(gateway: Gateway): Promise<number> {
  return ((await statusOf(gateway)).upstreams[0].admission as { queue: { waiting: number } }).queue.waiting;
}

function waitForWaiting(gateway: Gateway, count: number): Promise<unknown> {
  return waitFor(`${count} waiting`, async () => (await waiting(gateway)) === count);
}

/** Takes all places with requests that are never answered; their clients' leaving frees them. */
async function occupy(gateway: Gateway, backend: Backend, places: number): Promise<Socket[]> {
  await backend.set({ hang_share: 1 });
  const held = Array.from({ length: places }, () => raw(gateway.port, "GET / HTTP/1.1\r\nHost: x\r\n\r\n"));
  await waitFor("a full node", async () => (await backend.counters()).active === places);
  await backend.set({ hang_share: 0 });
  return held;
}

function raw(port: number, text: string): Socket {
  const socket = connect(port, "127.0.0.1");
  socket.on("error", () => undefined);
  socket.write(text);
  return socket;
}

async function expectClean(gateway: Gateway, backend: Backend, places: number): Promise<void> {
  await waitForIdle(gateway);
  await waitFor("every slot to be back", async () => {
    const { limits } = (await statusOf(gateway)).upstreams[0] as unknown as { limits: { leased: number } };
    return limits.leased === 0;
  });
  expect((await backend.counters()).max_active).toBeLessThanOrEqual(places);
  expect((await statusOf(gateway)).faults).toEqual({});
  expect((await gateway.get("/")).status).toBe(200);
}

/** Status of a stream's answer; 0 when there is none. */
function answerOf(stream: ClientHttp2Stream): Promise<number> {
  return new Promise((resolve) => {
    stream.on("response", (headers) => resolve(Number(headers[constants.HTTP2_HEADER_STATUS])));
    stream.on("error", () => resolve(0));
    stream.on("close", () => resolve(0));
    stream.resume();
  });
}

function openStreams(session: ClientHttp2Session, count: number): ClientHttp2Stream[] {
  return Array.from({ length: count }, () => session.request({ ":path": "/" }));
}

describe("waiting requests of HTTP/2", () => {
  it("leave one by one when their streams are reset, all when the connection goes, and are served else", () =>
    withKit("h2", async (kit) => {
      const backend = await kit.backend({ settings: { delay: { dist: "fixed", mean_ms: 5 } } });
      const port = await freePort();
      const gateway = await kit.gateway({
        servers: [backend],
        ax: upstream([backend], 2),
        access: true,
        http: `${ABORT} server { listen 127.0.0.1:${port} http2; location / { ${ACCESS} proxy_pass http://backend; } }`,
      });
      const held = await occupy(gateway, backend, 2);
      const sessions = [0, 1].map(() => connectH2(`http://127.0.0.1:${port}`).on("error", () => undefined));
      const [stays, goes] = sessions.map((session) => openStreams(session, 30));
      const answers = stays.map(answerOf);
      const lost = goes.map(answerOf);
      await waitForWaiting(gateway, 60);
      for (const stream of stays.slice(0, 10)) stream.close(constants.NGHTTP2_CANCEL);
      await waitForWaiting(gateway, 50);
      sessions[1].destroy();
      await waitForWaiting(gateway, 20);
      for (const socket of held) socket.destroy();
      expect((await Promise.all(answers)).slice(10)).toEqual(Array<number>(20).fill(200));
      expect(await Promise.all(lost)).toEqual(Array<number>(30).fill(0));
      sessions[0].close();
      await expectClean(gateway, backend, 2);
    }));
});

describe("waiting requests with a body", () => {
  const head = "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 200000\r\n\r\n";

  it.each(["on", "off"])("leave at any point of it and lose no place: proxy_request_buffering %s", (buffering) =>
    withKit(`body-${buffering}`, async (kit) => {
      const backend = await kit.backend();
      const gateway = await kit.gateway({
        servers: [backend],
        ax: upstream([backend], 2),
        access: true,
        http: ABORT,
        location: `proxy_request_buffering ${buffering};`,
      });
      const held = await occupy(gateway, backend, 2);
      const body = "x".repeat(200_000);
      const whole: Promise<HttpAnswer>[] = [];
      for (let k = 0; k < 10; k++) whole.push(gateway.get("/", { method: "POST", body, timeout_ms: 60_000 }));
      const part = Array.from({ length: 10 }, () => raw(gateway.port, head + body.slice(0, 100_000)));
      const none = Array.from({ length: 10 }, () => raw(gateway.port, head));
      await waitForWaiting(gateway, 30);
      // Some leave while they wait, the others when they have a place and their body is being read.
      for (const socket of [...part.slice(0, 5), ...none.slice(0, 5)]) socket.destroy();
      for (const socket of held) socket.destroy();
      await waitFor("the queue to move", async () => (await waiting(gateway)) < 25);
      for (const socket of [...part, ...none]) socket.destroy();
      expect((await Promise.all(whole)).map(({ status }) => status)).toEqual(Array<number>(10).fill(200));
      await expectClean(gateway, backend, 2);
    }),
  );
});

describe("5000 waiting requests", () => {
  const WAITERS = 5000;
  const BATCH = 500;

  async function queueUp(gateway: Gateway, onAnswer: (status: string) => void): Promise<Socket[]> {
    const sockets: Socket[] = [];
    while (sockets.length < WAITERS) {
      for (let k = 0; k < BATCH; k++) {
        const socket = raw(gateway.port, "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
        socket.once("data", (data) => onAnswer(String(data).slice("HTTP/1.1 ".length, 12)));
        sockets.push(socket);
      }
      await waitFor("the batch to wait", async () => (await waiting(gateway)) === sockets.length, 60_000);
    }
    return sockets;
  }

  it("are all served over a reload that changes the limit to 1, and another that changes it back", () =>
    withKit("reload-waiting", async (kit) => {
      const backend = await kit.backend({ settings: { delay: { dist: "fixed", mean_ms: 1 } } });
      const ax = (limit: number): unknown =>
        upstream([backend], limit, { queue: { size: WAITERS + 100, timeout_ms: 120_000 } });
      const gateway = await kit.gateway({
        servers: [backend],
        ax: ax(8),
        access: true,
        worker_connections: 3 * WAITERS,
        http: ABORT,
      });
      const held = await occupy(gateway, backend, 8);
      const answers: Record<string, number> = {};
      let answered = 0;
      await queueUp(gateway, (status) => {
        answers[status] = (answers[status] ?? 0) + 1;
        answered++;
      });
      await gateway.reload({ ax: ax(1) });
      expect((await backend.counters()).max_active).toBe(8);
      const late = gateway.get("/", { timeout_ms: 60_000 });
      for (const socket of held) socket.destroy();
      await waitFor("some to be served", () => answered > 200, 60_000);
      await gateway.reload({ ax: ax(8) });
      expect((await late).status).toBe(200);
      await waitFor("all to be answered", () => answered === WAITERS, 60_000);
      expect(answers).toEqual({ 200: WAITERS });
      await gateway.waitForRetired();
      await expectClean(gateway, backend, 8);
    }));
});
