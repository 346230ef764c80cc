import { readFileSync } from "node:fs";
import { createServer } from "node:net";

/** Lowest port handed out: below it live well-known services. */
const LOWEST_PORT = 10_000;

/** Ports this process has handed out: not to be handed out twice before their users have bound them. */
const handed_out = new Set<number>();

/**
 * First port that the kernel gives to outgoing connections. A listener's port must be below: else,
 * while the listener is down, somebody's outgoing connection may take the port, or a client that
 * connects to the dead port may be given that very port as its own and end up talking to itself.
 */
function firstEphemeralPort(): number {
  try {
    const range = readFileSync("/proc/sys/net/ipv4/ip_local_port_range", "utf8");
    return Number.parseInt(range, 10);
  } catch {
    return 32_768;
  }
}

/** The port bound, or the system's code for why it cannot be. 0 = any. */
function tryBind(port: number, host: string): Promise<number | string | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", (error: NodeJS.ErrnoException) => resolve(error.code));
    server.listen({ port, host, exclusive: true }, () => {
      const address = server.address();
      const bound = address !== null && typeof address === "object" ? address.port : undefined;
      server.close(() => resolve(bound));
    });
  });
}

/** Whether somebody listens on the port already, or it cannot be had for another reason. */
export async function isTaken(port: number, host = "127.0.0.1"): Promise<boolean> {
  return typeof (await tryBind(port, host)) !== "number";
}

/** @returns why nobody could listen on the port now, in words; undefined when somebody could */
export async function whyNotFree(port: number, host = "127.0.0.1"): Promise<string | undefined> {
  const result = await tryBind(port, host);
  if (typeof result === "number") return undefined;
  if (result === "EADDRINUSE") return `port ${port} is taken`;
  return result === "EACCES" ? `port ${port} is for root only` : `port ${port} cannot be had (${result})`;
}

/**
 * Finds a free TCP port by binding it for a moment. Somebody else may take it before you do:
 * whoever starts a listener tries again with another port (startBackend and startGateway do).
 *
 * @param host address that will listen
 * @returns 10000 .. first ephemeral port − 1, or a port of the kernel's choice when that range is crowded
 */
export async function freePort(host = "127.0.0.1"): Promise<number> {
  const above = firstEphemeralPort();
  for (let tries = 0; tries < 50 && above > LOWEST_PORT; tries++) {
    const candidate = LOWEST_PORT + Math.floor(Math.random() * (above - LOWEST_PORT));
    if (handed_out.has(candidate)) continue;
    const port = await tryBind(candidate, host);
    if (typeof port !== "number") continue;
    handed_out.add(port);
    return port;
  }
  const port = await tryBind(0, host);
  if (typeof port !== "number") throw new Error(`no free TCP port on ${host}`);
  return port;
}
