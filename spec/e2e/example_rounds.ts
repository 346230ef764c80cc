/** What the specs of the examples share: rounds of requests, and what must hold after them. */
import { expect } from "vitest";
import { type Backend, type Example, type Kit, startExample } from "../../ts-src/node/testkit";
import { type Status, type UpstreamStatus, waitForIdle, waitForStatus } from "./support";

/** Requests of each round, and how many at a time: enough to overlap at every node. */
export const ROUND = 90;
export const AT_A_TIME = 12;

/** Runs `send` ROUND times, AT_A_TIME at once. A request that fails fails the test. */
export async function sendRound(send: (number: number) => Promise<void>, at_a_time = AT_A_TIME): Promise<void> {
  let next = 0;
  const client = async (): Promise<void> => {
    while (next < ROUND) await send(next++);
  };
  await Promise.all(Array.from({ length: at_a_time }, client));
}

export function upstreamOf(status: Status, name: string): UpstreamStatus {
  const upstream = status.upstreams.find((candidate) => candidate.name === name);
  if (upstream === undefined) throw new Error(`no upstream ${name} in the status`);
  return upstream;
}

export function sum(upstream: UpstreamStatus, key: "picks" | "ok" | "err" | "fail" | "aborted"): number {
  return upstream.nodes.reduce((total, node) => total + node.totals[key], 0);
}

/** The part of a backend and of an ExampleNode that is looked at here. */
interface Node {
  address: string;
  requests: () => number | Promise<number>;
  kill: () => Promise<void>;
}

export function nodesOfBackends(backends: Backend[]): Node[] {
  return backends.map((backend) => ({
    address: backend.address,
    requests: async () => (await backend.counters()).requests,
    kill: () => backend.kill(),
  }));
}

const requestsOf = (nodes: Node[]): Promise<number[]> => Promise.all(nodes.map(async (node) => node.requests()));

/** Waits until an upstream has `ok` successes and nothing in flight, and checks that there are no more of them. */
export async function expectCounted(example: Example, upstream: string, ok: number): Promise<UpstreamStatus> {
  await waitForStatus(example, `${ok} successes`, (_, status) => sum(upstreamOf(status, upstream), "ok") >= ok);
  const status = await waitForIdle(example);
  const seen = upstreamOf(status, upstream);
  expect(sum(seen, "ok")).toBe(ok);
  for (const node of status.upstreams.flatMap(({ nodes }) => nodes)) expect(node.in_flight ?? 0).toBe(0);
  expect(Object.keys(status.faults)).toEqual([]);
  return seen;
}

interface Exercise {
  upstream: string;
  nodes: Node[];
  send: (number: number) => Promise<void>;
  at_a_time?: number;
}

/**
 * What holds for every example: requests reach all nodes, each is counted once, nothing stays in flight; and with a
 * dead node every request is served by the others.
 */
export async function exercise(example: Example, { upstream, nodes, send, at_a_time }: Exercise): Promise<void> {
  await sendRound(send, at_a_time);
  const all_well = await expectCounted(example, upstream, ROUND);
  expect(sum(all_well, "picks")).toBe(ROUND);
  const seen = await requestsOf(nodes);
  // No more can be said of `adaptive`, which all that are exercised this way use: how many a node gets follows from
  // latencies and from what is in flight, and on a busy machine those of equal nodes differ by any factor. What its
  // shares come to is proven where time is virtual, in the simulator. Strategies that are exact (websocket.conf,
  // several_upstreams.conf) and limits (queue.conf) are tested for exact numbers by their own tests.
  for (const requests of seen) expect(requests).toBeGreaterThan(0);
  expect(seen.reduce((total, requests) => total + requests, 0)).toBe(ROUND);

  await nodes[0].kill();
  await sendRound(send, at_a_time);
  const one_dead = await expectCounted(example, upstream, 2 * ROUND);
  expect(sum(one_dead, "err") + sum(one_dead, "aborted")).toBe(0);
  expect(sum(one_dead, "picks")).toBe(2 * ROUND + sum(one_dead, "fail"));
}

/** A GET that must be answered 200. */
export function get(example: Example, path = "/"): () => Promise<void> {
  return async () => {
    const answer = await example.get(path);
    expect(answer.status, answer.text).toBe(200);
  };
}

/** The three nodes that most examples have, working for 4 ms at each request, and the example in front of them. */
export async function withThree(kit: Kit, file: string, options: Partial<Parameters<typeof startExample>[2]> = {}) {
  const backends = await kit.backends(3, { settings: { delay: { dist: "fixed", mean_ms: 4 } } });
  const [a, b, c] = backends;
  const nodes = { "127.0.0.1:8081": a.address, "127.0.0.1:8082": b.address, "127.0.0.1:8083": c.address };
  return { backends, example: await startExample(kit, file, { nodes, ...options }) };
}
