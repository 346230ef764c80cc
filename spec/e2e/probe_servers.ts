/** Servers for checks: as odd as they come, each in this process, on addresses of their own under 127.0.0.0/8. */
import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer as createTcpServer, connect, type Server, type Socket } from "node:net";
import { createServer as createTlsServer, type TLSSocket } from "node:tls";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "../../ts-src/node/testkit";

export interface RawServer {
  port: number;
  /** Connections per address that was connected to. */
  connections: Record<string, number>;
  /** Most connections open at once. */
  most_open: number;
  close(): Promise<void>;
}

function listening(server: Server, port: number, host: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen({ port, host, backlog: 1024 }, resolve);
  });
}

/**
 * Answers every connection by `answer`, which gets it with the first bytes received.
 * @param host to listen on; "0.0.0.0" for all of 127.0.0.0/8
 */
export async function rawServer(answer: (socket: Socket) => void, host = "127.0.0.1"): Promise<RawServer> {
  const open = new Set<Socket>();
  const made: RawServer = {
    port: await freePort(host),
    connections: {},
    most_open: 0,
    close: () =>
      new Promise((resolve) => {
        for (const socket of open) socket.destroy();
        server.close(() => resolve());
      }),
  };
  const server = createTcpServer((socket) => {
    open.add(socket);
    const address = socket.localAddress ?? "";
    made.connections[address] = (made.connections[address] ?? 0) + 1;
    made.most_open = Math.max(made.most_open, open.size);
    socket.on("error", () => undefined);
    socket.on("close", () => open.delete(socket));
    socket.once("data", () => answer(socket));
  });
  await listening(server, made.port, host);
  return made;
}

/** Sends the text over and over, until the other side has had enough. */
export function endless(text: string, every_ms: number): (socket: Socket) => void {
  return (socket) => {
    socket.write("HTTP/1.1 200 OK\r\n");
    const timer = setInterval(() => socket.write(text), every_ms);
    socket.on("close", () => clearInterval(timer));
  };
}

export const OK = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok";

export interface TlsServer {
  port: number;
  /** Names asked for in handshakes. */
  names: (string | undefined)[];
  /** Path of its self-signed certificate. */
  cert_path: string;
  close(): Promise<void>;
}

/** An HTTPS server with a self-signed certificate for a name. */
export async function tlsServer(name: string): Promise<TlsServer> {
  const dir = mkdtempSync(join(tmpdir(), "ax-tls-"));
  const cert_path = join(dir, "cert.pem");
  const key_path = join(dir, "key.pem");
  const args = ["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"];
  const subject = ["-subj", `/CN=${name}`, "-addext", `subjectAltName=DNS:${name}`];
  const run = spawnSync("openssl", [...args, ...subject, "-keyout", key_path, "-out", cert_path], { encoding: "utf8" });
  if (run.status !== 0) throw new Error(`openssl: ${run.stderr}`);
  const names: (string | undefined)[] = [];
  const server = createTlsServer(
    { cert: readFileSync(cert_path), key: readFileSync(key_path) },
    (socket: TLSSocket) => {
      const asked = socket.servername as string | false | undefined | null;
      names.push(typeof asked === "string" ? asked : undefined);
      socket.on("error", () => undefined);
      socket.once("data", () => socket.end(OK));
    },
  );
  server.on("tlsClientError", () => undefined);
  const port = await freePort();
  await listening(server, port, "127.0.0.1");
  return {
    port,
    names,
    cert_path,
    close: () =>
      new Promise((resolve) => {
        rmSync(dir, { recursive: true, force: true });
        server.close(() => resolve());
      }),
  };
}

/** A listener whose queue is full and that accepts nothing: the kernel drops every further SYN. */
export async function deafServer(): Promise<{ port: number; close(): void }> {
  const port = await freePort();
  const script = `require("net").createServer().listen({ port: ${port}, host: "127.0.0.1", backlog: 1 }, () => {
    process.stdout.write("up"); Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0); })`;
  const child = spawn(process.execPath, ["-e", script], { stdio: ["ignore", "pipe", "inherit"] });
  await new Promise((resolve) => child.stdout.once("data", resolve));
  const fillers: Socket[] = [];
  for (let i = 0; i < 4; i++) {
    const socket = connect(port, "127.0.0.1");
    socket.on("error", () => undefined);
    fillers.push(socket);
  }
  return {
    port,
    close: () => {
      for (const socket of fillers) socket.destroy();
      child.kill("SIGKILL");
    },
  };
}
