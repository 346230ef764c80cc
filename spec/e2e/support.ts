import type { Gateway, LoadResult } from "../../ts-src/node/testkit";
import { runWrk, waitFor } from "../../ts-src/node/testkit";

/** The parts of the status document that specs look at. docs/api.md has the whole. */
export interface NodeStatus {
  id: string;
  address: string;
  state: string;
  reason: string;
  since_s?: number;
  backup: boolean;
  base_weight: number;
  effective_weight: number;
  score?: number;
  share?: number;
  in_flight?: number;
  requests_per_s?: number;
  p50_ms?: number;
  p99_ms?: number;
  error_rate?: number;
  ejections?: number;
  max_conns: number;
  max_fails: number;
  fail_timeout_s: number;
  probe?: { verdict: string };
  totals: { picks: number; ok: number; err: number; fail: number; aborted: number; busy: number };
}

export interface UpstreamStatus {
  name: string;
  strategy: string;
  nodes_from: string;
  generation: number;
  data_age_ms?: number;
  warnings: string[];
  admission: unknown;
  nodes: NodeStatus[];
}

export interface Status {
  answered_by_pid: number;
  collector: { pid?: number; generation?: number; data_age_ms?: number };
  workers: { pid: number; exiting: boolean; in_flight: number }[];
  faults: Record<string, { count: number; last_message: string }>;
  upstreams: UpstreamStatus[];
}

/** @throws Error when the gateway does not answer with a status */
export async function statusOf(gateway: Gateway): Promise<Status> {
  const status = await gateway.status();
  if (status === undefined) throw new Error("the gateway gave no status");
  return status as Status;
}

/** The nodes of the only upstream, in the order of the configuration. */
export async function nodesOf(gateway: Gateway): Promise<NodeStatus[]> {
  return (await statusOf(gateway)).upstreams[0].nodes;
}

/** Polls the status until `probe` is satisfied; the last status seen is in the error otherwise. */
export async function waitForStatus(
  gateway: Gateway,
  what: string,
  probe: (nodes: NodeStatus[], status: Status) => boolean,
  timeout_ms = 30_000,
): Promise<Status> {
  let last: Status | undefined;
  try {
    return await waitFor(
      what,
      async () => {
        last = await statusOf(gateway);
        return probe(last.upstreams[0].nodes, last) && last;
      },
      timeout_ms,
    );
  } catch (error) {
    throw new Error(`${String(error)}; last status: ${JSON.stringify(last)}`, { cause: error });
  }
}

/** Waits until the collector has counted as many outcomes as there were requests. */
export function waitForOutcomes(gateway: Gateway, outcomes: number): Promise<Status> {
  return waitForStatus(gateway, `${outcomes} outcomes`, (nodes) => {
    const counted = nodes.map(({ totals }) => totals.ok + totals.err + totals.fail + totals.aborted);
    return counted.reduce((sum, count) => sum + count, 0) >= outcomes;
  });
}

/** Requests of a client that did not get a good answer. */
export function failures(load: LoadResult): number {
  return Object.values(load.errors).reduce((sum, count) => sum + count, 0);
}

export interface LoadShape {
  connections?: number;
  /**
   * A connection for each request. For reloads: nginx closes the idle connections of old workers, and a
   * client that is just sending on one sees an error that is nobody's fault.
   */
  reconnect?: boolean;
}

/** wrk in the background: starts at once; `done` has the result. */
export function startLoad(gateway: Gateway, duration_s: number, shape: LoadShape = {}): { done: Promise<LoadResult> } {
  const { connections = 16, reconnect = false } = shape;
  const headers: Record<string, string> = reconnect ? { Connection: "close" } : {};
  return { done: runWrk({ url: `${gateway.url}/`, connections, duration_s, headers }) };
}

/** Picks of each node so far, by id. */
export async function picksOf(gateway: Gateway): Promise<Record<string, number>> {
  return Object.fromEntries((await nodesOf(gateway)).map((node) => [node.id, node.totals.picks]));
}

/** Nothing in flight anywhere, as the status shows it. */
export function waitForIdle(gateway: Gateway): Promise<Status> {
  return waitForStatus(
    gateway,
    "no request in flight",
    (nodes, status) =>
      nodes.every((node) => (node.in_flight ?? 0) === 0) && status.workers.every((worker) => worker.in_flight === 0),
  );
}
