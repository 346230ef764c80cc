import { expect, test } from "vitest";
import { type Gateway, http, pause, waitFor, withKit } from "../../ts-src/node/testkit";
import { rawServer } from "./probe_servers";

interface Node {
  state: string;
  reason: string;
  effective_weight: number;
  report?: { age_s: number; watermark?: number; watermark_of?: string; signals: Record<string, number> };
  reports_bad?: number;
  totals: { picks: number };
}

async function nodesOf(gateway: Gateway): Promise<Node[]> {
  return ((await gateway.status()) as { upstreams: { nodes: Node[] }[] }).upstreams[0].nodes;
}

/** Requests in turn until `stop`, not faster than a node can be told apart. */
async function ask(gateway: Gateway, done: () => boolean): Promise<number> {
  let failed = 0;
  while (!done()) {
    const answers = await Promise.all(Array.from({ length: 8 }, () => http(`${gateway.url}/`)));
    failed += answers.filter((answer) => answer.status !== 200).length;
    await pause(10);
  }
  return failed;
}

/** A server whose answers carry the header that `said` holds; "" = none. */
async function reporter(said: { header: string }): Promise<{ port: number; close(): Promise<void> }> {
  return rawServer((socket) => {
    const header = said.header === "" ? "" : `endpoint-load-metrics: ${said.header}\r\n`;
    socket.end(Buffer.from(`HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n${header}\r\nok`, "latin1"));
  });
}

const HOSTILE = [
  "nonsense",
  "TEXT cpu_utilization=NaN",
  "JSON {",
  `TEXT cpu_utilization=0.${"9".repeat(3000)}`,
  "BIN //////////",
  "TEXT \xff\xfe\xfd=1",
];

test("a node that says in its answers that it is busy gets less, is shown so, and comes back", () =>
  withKit("orca", async (kit) => {
    const said = Array.from({ length: 3 }, () => ({ header: "TEXT cpu_utilization=0.2" }));
    const servers = await Promise.all(said.map(reporter));
    let over = false;
    try {
      const gateway = await kit.gateway({
        servers: servers.map(({ port }) => `127.0.0.1:${port}`),
        workers: 2,
        // By the header alone: answers of these servers take what they take.
        ax: { upstreams: { backend: { orca: true, strategy: "random" } } },
        server: "proxy_hide_header endpoint-load-metrics;",
      });
      const load = ask(gateway, () => over);
      const until = (what: string, holds: (nodes: Node[]) => boolean): Promise<Node[]> =>
        waitFor(
          what,
          async () => {
            const nodes = await nodesOf(gateway);
            return holds(nodes) && nodes;
          },
          60_000,
        );
      await until("three reports", (nodes) => nodes.every(({ report }) => report?.watermark === 0.2));
      said[0].header = 'JSON {"cpu_utilization": 0.95, "named_metrics": {"queue": 3}}';
      const [busy] = await until("one degraded", ([first]) => first.state === "degraded");
      expect(busy.reason).toBe("reports to be 95 % busy (cpu_utilization)");
      expect(busy.report).toMatchObject({ watermark: 0.95, signals: { "named_metrics.queue": 3 } });
      const before = await nodesOf(gateway);
      const after = await until("enough picks", (nodes) => nodes[1].totals.picks >= before[1].totals.picks + 100);
      const picks = after.map((node, i) => node.totals.picks - before[i].totals.picks);
      // At half the weight of the others: 20 % of the picks.
      expect(picks[0] / (picks[0] + picks[1] + picks[2])).toBeLessThan(0.3);
      expect(after[0].effective_weight).toBeLessThan(0.7 * after[1].effective_weight);
      said[0].header = "TEXT cpu_utilization=0.2";
      await until("it back", ([first]) => first.state === "online" && first.report?.watermark === 0.2);
      for (const header of HOSTILE) {
        said[1].header = header;
        const bad = (await nodesOf(gateway))[1].reports_bad ?? 0;
        const nodes = await until("one more that is counted", (now) => (now[1].reports_bad ?? 0) >= bad + 2);
        expect(nodes[1]).toMatchObject({ state: "online", report: { watermark: 0.2 } });
      }
      over = true;
      expect(await load).toBe(0);
      const answer = await http(`${gateway.url}/`);
      expect(answer.headers["endpoint-load-metrics"]).toBeUndefined();
      expect(gateway.errorLog()).not.toMatch(/\[(error|alert|crit|emerg)\]/);
    } finally {
      over = true;
      await Promise.all(servers.map((server) => server.close()));
    }
  }));
