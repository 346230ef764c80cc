/** Nodes that speak what the test kit's backends do not: gRPC, FastCGI, TLS. Each in this process. */
import { execFileSync } from "node:child_process";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { connect as connectHttp2, constants, createServer as createHttp2Server } from "node:http2";
import { createServer as createHttpsServer } from "node:https";
import { createServer, type Server, type Socket } from "node:net";
import { join } from "node:path";
import { createSecureContext, type SecureContext } from "node:tls";
import { freePort, pause } from "../../ts-src/node/testkit";

/** What every kind of node tells and can do. */
export interface ExampleNode {
  address: string;
  /** Requests that came so far. */
  requests(): number;
  /** Stops it as a crash would: no listener, all connections broken. */
  kill(): Promise<void>;
  stop(): Promise<void>;
}

/** Long enough that requests overlap, and balancing shows. */
const WORK_MS = 4;

/** Listens on a free port, or a socket's path, and keeps track of connections so that they can be broken. */
async function listen(server: Server, at: number | string, requests: () => number): Promise<ExampleNode> {
  const open = new Set<Socket>();
  server.on("connection", (socket: Socket) => {
    open.add(socket);
    socket.on("error", () => undefined);
    socket.on("close", () => open.delete(socket));
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(typeof at === "number" ? { port: at, host: "127.0.0.1" } : { path: at, readableAll: true }, resolve);
  });
  const kill = (): Promise<void> =>
    new Promise((resolve) => {
      for (const socket of open) socket.destroy();
      server.close(() => resolve());
    });
  return { address: typeof at === "number" ? `127.0.0.1:${at}` : `unix:${at}`, requests, kill, stop: kill };
}

/** A gRPC message: not compressed, length in four bytes. */
function framed(text: string): Buffer {
  const body = Buffer.from(text);
  const head = Buffer.alloc(5);
  head.writeUInt32BE(body.length, 1);
  return Buffer.concat([head, body]);
}

/** A gRPC server over clear-text HTTP/2: one method, which answers with what it was sent. */
export async function grpcNode(): Promise<ExampleNode> {
  let requests = 0;
  const server = createHttp2Server();
  server.on("stream", (stream) => {
    requests++;
    const parts: Buffer[] = [];
    stream.on("error", () => undefined);
    stream.on("data", (part: Buffer) => parts.push(part));
    stream.on("end", () => {
      void pause(WORK_MS).then(() => {
        stream.respond({ ":status": 200, "content-type": "application/grpc" }, { waitForTrailers: true });
        stream.on("wantTrailers", () => stream.sendTrailers({ "grpc-status": "0" }));
        stream.end(Buffer.concat(parts));
      });
    });
  });
  return listen(server, await freePort(), () => requests);
}

/**
 * One call over a connection of its own.
 * @returns the message that came back
 * @throws Error when the call failed: HTTP status, grpc-status, or no answer
 */
export function grpcCall(port: number, message: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const session = connectHttp2(`http://127.0.0.1:${port}`);
    session.on("error", reject);
    const stream = session.request({
      ":method": "POST",
      ":path": "/echo.Echo/Say",
      "content-type": "application/grpc",
      te: "trailers",
    });
    const parts: Buffer[] = [];
    let status = 0;
    let grpc_status: unknown;
    stream.on("response", (headers) => {
      status = headers[":status"] ?? 0;
      grpc_status = headers["grpc-status"];
    });
    stream.on("trailers", (trailers: Record<string, unknown>) => (grpc_status = trailers["grpc-status"]));
    stream.on("data", (part: Buffer) => parts.push(part));
    stream.on("error", reject);
    stream.on("close", () => {
      session.close();
      if (status === 200 && grpc_status === "0") resolve(Buffer.concat(parts).subarray(5).toString());
      else reject(new Error(`call failed: status ${status}, grpc-status ${String(grpc_status)}`));
    });
    stream.setTimeout(10_000, () => stream.close(constants.NGHTTP2_CANCEL));
    stream.end(framed(message));
  });
}

/** Record types of FastCGI (its specification, section 8). */
const FCGI = { begin: 1, end: 3, params: 4, stdin: 5, stdout: 6 } as const;

function fcgiRecord(type: number, id: number, content: Buffer): Buffer {
  const head = Buffer.from([1, type, id >> 8, id & 255, content.length >> 8, content.length & 255, 0, 0]);
  return Buffer.concat([head, content]);
}

/** A FastCGI responder. It keeps connections, and names the request's URI in its answer. */
export async function fastcgiNode(socket_path?: string): Promise<ExampleNode> {
  let requests = 0;
  const server = createServer((socket) => {
    let input = Buffer.alloc(0);
    let params = "";
    const answer = async (id: number): Promise<void> => {
      requests++;
      const uri = /REQUEST_URI([\x20-\x7e]*?)(?=[^\x20-\x7e]|$)/.exec(params)?.[1] ?? "";
      params = "";
      await pause(WORK_MS);
      const page = Buffer.from(`Content-Type: text/plain\r\n\r\npage ${uri}\n`);
      socket.write(fcgiRecord(FCGI.stdout, id, page));
      socket.write(fcgiRecord(FCGI.stdout, id, Buffer.alloc(0)));
      socket.write(fcgiRecord(FCGI.end, id, Buffer.alloc(8)));
    };
    socket.on("data", (part: Buffer) => {
      input = Buffer.concat([input, part]);
      while (input.length >= 8) {
        const length = input.readUInt16BE(4);
        const whole = 8 + length + (input[6] ?? 0);
        if (input.length < whole) return;
        const [type, id] = [input[1], input.readUInt16BE(2)];
        if (type === FCGI.params) params += input.toString("latin1", 8, 8 + length);
        if (type === FCGI.stdin && length === 0) void answer(id);
        input = input.subarray(whole);
      }
    });
  });
  return listen(server, socket_path ?? (await freePort()), () => requests);
}

export interface Authority {
  /** File with its certificate. */
  path: string;
  /** A key and a certificate for `name`, in PEM. */
  issue(name: string): { key: string; cert: string };
}

/** A certificate authority of a few days, in `dir`. Needs the openssl command. */
export function authority(dir: string): Authority {
  const openssl = (...args: string[]): string =>
    execFileSync("openssl", args, { cwd: dir, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
  const key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"];
  openssl("req", "-x509", ...key, "-days", "3", "-subj", "/CN=test authority", "-keyout", "ca.key", "-out", "ca.pem");
  return {
    path: join(dir, "ca.pem"),
    issue: (name) => {
      openssl("req", ...key, "-subj", `/CN=${name}`, "-keyout", "node.key", "-out", "node.csr");
      writeFileSync(join(dir, "node.ext"), `subjectAltName=DNS:${name}\n`);
      const ca = ["-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial"];
      const cert = openssl("x509", "-req", "-in", "node.csr", ...ca, "-days", "3", "-extfile", "node.ext");
      const made = { key: readFileSync(join(dir, "node.key"), "utf8"), cert };
      for (const file of ["node.key", "node.csr", "node.ext"]) rmSync(join(dir, file));
      return made;
    },
  };
}

/**
 * A node that speaks HTTPS, to clients that name `expected` in the handshake (SNI) and to nobody else.
 * Its answer is the Host header.
 */
export async function tlsNode(expected: string, certificate: { key: string; cert: string }): Promise<ExampleNode> {
  let requests = 0;
  const context = createSecureContext(certificate);
  const SNICallback = (name: string, done: (error: Error | null, context?: SecureContext) => void): void =>
    name === expected ? done(null, context) : done(new Error(`asked for ${name}`));
  const server = createHttpsServer({ SNICallback }, (request, response) => {
    requests++;
    void pause(WORK_MS).then(() => response.end(request.headers.host));
  });
  server.keepAliveTimeout = 60_000;
  return listen(server, await freePort(), () => requests);
}
