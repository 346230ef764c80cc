import { connect, type Socket } from "node:net";
import { describe, expect, it } from "vitest";
import { type Gateway, waitFor, withKit } from "../../ts-src/node/testkit";
import { residentKb } from "../../ts-src/node/testkit/proc";
import { statusOf, waitForIdle } from "./support";

const WAITERS = 10_000;

/** Clients that connect at a time: fewer than the kernel's line of connections to accept. */
const BATCH = 500;

const PLACES = 50;

/** For a step on a busy machine. */
const PATIENCE_MS = 60_000;

interface Admission {
  queue: { waiting: number };
  refused: Record<string, number>;
}

async function admissionOf(gateway: Gateway): Promise<Admission> {
  return (await statusOf(gateway)).upstreams[0].admission as Admission;
}

/** One client with one request. */
interface Client {
  socket: Socket;
  /** Which batch it came with. */
  batch: number;
  /** First line of the answer; empty while it waits. */
  status: string;
}

function newClient(gateway: Gateway, batch: number, onAnswer: (client: Client) => void): Promise<Client> {
  return new Promise((resolve, reject) => {
    const socket = connect(gateway.port, "127.0.0.1", () => {
      socket.write("GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", () => resolve(client));
    });
    const client: Client = { socket, batch, status: "" };
    socket.on("error", reject);
    socket.on("data", (data) => {
      if (client.status !== "") return;
      client.status = String(data).split("\r\n", 1)[0].slice("HTTP/1.1 ".length);
      onAnswer(client);
    });
  });
}

/** Lets `count` clients come, batch after batch: the order between batches is known. */
async function letCome(gateway: Gateway, count: number, onAnswer: (client: Client) => void): Promise<Client[]> {
  const clients: Client[] = [];
  for (let batch = 0; clients.length < count; batch++) {
    const batch_size = Math.min(BATCH, count - clients.length);
    clients.push(...(await Promise.all(Array.from({ length: batch_size }, () => newClient(gateway, batch, onAnswer)))));
    await waitFor(
      "the batch to wait",
      async () => (await admissionOf(gateway)).queue.waiting === clients.length,
      PATIENCE_MS,
    );
  }
  return clients;
}

describe("the queue on real nginx", () => {
  it(`holds ${WAITERS} requests, lets half of them hang up, and serves the rest in order`, () =>
    withKit("waiters", async (kit) => {
      const backends = await kit.backends(1, { settings: { hang_share: 1 } });
      const nodes = [{ address: backends[0].address, max_conns: PLACES }];
      const backend = { nodes, queue: { size: WAITERS, timeout_ms: 120_000 } };
      const gateway = await kit.gateway({
        servers: backends,
        ax: { upstreams: { backend } },
        access: true,
        worker_connections: WAITERS + 1000,
        http: "lua_check_client_abort on; proxy_read_timeout 300s;",
      });
      const answered: Client[] = [];
      const onAnswer = (client: Client): void => void answered.push(client);
      const running = await Promise.all(Array.from({ length: PLACES }, () => newClient(gateway, -1, () => undefined)));
      await waitFor("a full node", async () => (await backends[0].counters()).active === PLACES);
      const [pid] = gateway.workerPids();
      const before_kb = residentKb(pid);
      const clients = await letCome(gateway, WAITERS, onAnswer);
      const each_kb = (residentKb(pid) - before_kb) / WAITERS;
      console.log(`${WAITERS} waiting requests: ${each_kb.toFixed(1)} kB each in the worker (${before_kb} kB without)`);
      expect(each_kb).toBeLessThan(100);

      const refused = await gateway.get("/");
      expect(`${refused.status} ${String(refused.headers["x-ax-reject"])}`).toBe("503 queue_full");
      for (let k = 0; k < WAITERS; k += 2) clients[k].socket.destroy();
      await waitFor(
        "half to have left",
        async () => (await admissionOf(gateway)).queue.waiting === WAITERS / 2,
        PATIENCE_MS,
      );

      await backends[0].resetCounters();
      await backends[0].set({ hang_share: 0, delay: { dist: "fixed", mean_ms: 2 } });
      // Those that hang are let go: their places are free.
      for (const { socket } of running) socket.destroy();
      await waitFor("all to be answered", () => answered.length >= WAITERS / 2, PATIENCE_MS);
      expect(answered.length).toBe(WAITERS / 2);
      expect(new Set(answered.map(({ status }) => status))).toEqual(new Set(["200 OK"]));
      let latest = 0;
      const out_of_order = answered.filter(({ batch }) => {
        latest = Math.max(latest, batch);
        // Of the end of one batch and the beginning of the next some run at the same time.
        return batch < latest - 1;
      });
      expect(out_of_order).toEqual([]);
      await waitForIdle(gateway);
      const { requests, max_active } = await backends[0].counters();
      expect(requests).toBe(WAITERS / 2);
      expect(max_active).toBeLessThanOrEqual(PLACES);
      expect((await admissionOf(gateway)).refused).toEqual({ queue_full: 1 });
      expect((await statusOf(gateway)).faults).toEqual({});
      for (const { socket } of clients) socket.destroy();
    }));
});
