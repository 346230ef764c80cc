/** Nodes for the health scenarios: HTTP servers in this process, which fail in the ways that nodes do. */
import { spawn, spawnSync } from "node:child_process";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { freePort, http, waitFor } from "../../ts-src/node/testkit";

export interface Behaviour {
  /** Of every answer, ms. */
  delay_ms: number;
  /** Share of 500s, 0..1; they come at once. */
  error_share: number;
  /** Requests are accepted and never answered. */
  hang: boolean;
}

export interface HealthNode {
  address: string;
  /** Requests so far, without those for /healthz. */
  requests: number;
  /** Requests for /healthz so far: always answered with 200, whatever the others meet. */
  checks: number;
  set(behaviour: Partial<Behaviour>): void;
  /** As kill -9 leaves it: connections reset, nothing listens. */
  kill(): Promise<void>;
  /** Listens again at the same address. */
  restart(): Promise<void>;
}

function listening(server: Server, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen({ port, host: "127.0.0.1", backlog: 1024 }, resolve);
  });
}

function answer(response: ServerResponse, status: number, delay_ms: number): void {
  const send = (): void => {
    response.writeHead(status, { "Content-Length": 2 });
    response.end("ok");
  };
  if (delay_ms > 0) setTimeout(send, delay_ms);
  else send();
}

/** Spreads the errors evenly by chance, and the same in every run. */
function newDice(): () => number {
  let state = 12345;
  return () => {
    state = (state * 1103515245 + 12345) % 2147483648;
    return state / 2147483648;
  };
}

/** @param keep something that stops it at the end: kit.keep */
export async function newNode(keep: (item: { stop(): Promise<void> }) => void): Promise<HealthNode> {
  const behaviour: Behaviour = { delay_ms: 3, error_share: 0, hang: false };
  const open = new Set<Socket>();
  const dice = newDice();
  const port = await freePort();
  const node: HealthNode = {
    address: `127.0.0.1:${port}`,
    requests: 0,
    checks: 0,
    set: (changes) => void Object.assign(behaviour, changes),
    kill: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of open) socket.resetAndDestroy();
      }),
    restart: async () => {
      server = make();
      await listening(server, port);
    },
  };
  const serve = (request: IncomingMessage, response: ServerResponse): void => {
    if (request.url === "/healthz") {
      node.checks++;
      answer(response, 200, 0);
      return;
    }
    node.requests++;
    if (behaviour.hang) return;
    const fails = dice() < behaviour.error_share;
    answer(response, fails ? 500 : 200, fails ? 0 : behaviour.delay_ms);
  };
  const make = (): Server => {
    const made = createServer({ keepAliveTimeout: 60_000 }, serve);
    made.on("connection", (socket) => {
      open.add(socket);
      socket.on("error", () => undefined);
      socket.on("close", () => open.delete(socket));
    });
    return made;
  };
  let server = make();
  await listening(server, port);
  keep({ stop: () => (server.listening ? node.kill() : Promise.resolve()) });
  return node;
}

export interface FilteredNode {
  address: string;
  /** Drops SYNs from now on, or no longer. */
  drop(on: boolean): void;
}

function run(...command: string[]): boolean {
  return spawnSync(command[0], command.slice(1), { stdio: "ignore" }).status === 0;
}

const SERVER = `require("node:http").createServer((request, response) => {
  setTimeout(() => response.writeHead(200, { Connection: "close" }).end("ok"), 3);
}).listen(8080)`;

/**
 * A node behind a firewall that can drop SYNs, in a network namespace of its own; every request takes a connection.
 * @returns undefined where this machine makes no namespaces, or has no iptables
 */
export async function filteredNode(keep: (item: { stop(): Promise<void> }) => void): Promise<FilteredNode | undefined> {
  const name = `ax${process.pid}`;
  const [ours, theirs] = [`${name}a`, `${name}b`];
  const inside = ["ip", "netns", "exec", name];
  const remove = (): void => {
    run("ip", "netns", "del", name);
    run("ip", "link", "del", ours);
  };
  const made =
    run("ip", "netns", "add", name) &&
    run("ip", "link", "add", ours, "type", "veth", "peer", "name", theirs, "netns", name) &&
    run("ip", "addr", "add", "10.231.7.1/30", "dev", ours) &&
    run("ip", "link", "set", ours, "up") &&
    run("ip", "-n", name, "addr", "add", "10.231.7.2/30", "dev", theirs) &&
    run("ip", "-n", name, "link", "set", theirs, "up") &&
    run(...inside, "iptables", "-L", "-n");
  if (!made) {
    remove();
    return undefined;
  }
  const child = spawn(inside[0], [...inside.slice(1), process.execPath, "-e", SERVER], { stdio: "ignore" });
  keep({
    stop: () => {
      child.kill("SIGKILL");
      remove();
      return Promise.resolve();
    },
  });
  await waitFor("the node behind the firewall", () =>
    http("http://10.231.7.2:8080/", { timeout_ms: 500 }).then(
      ({ status }) => status === 200,
      () => false,
    ),
  );
  return {
    address: "10.231.7.2:8080",
    drop: (on) => void run(...inside, "iptables", on ? "-A" : "-D", "INPUT", "-p", "tcp", "--syn", "-j", "DROP"),
  };
}
