/** Watches which node gets how much while a load runs and the scenario's events happen. */
import { type Backend, pause } from "../testkit";
import type { Nodes } from "./nodes";
import type { Scenario } from "./scenarios";

export interface Shares {
  /** Of the requests that the nodes got, by node, 0..1. Empty when nodes are many in one process. */
  shares: number[];
  /** The same for each interval of SHARE_EVERY_MS. */
  shares_over_time: number[][];
}

export const SHARE_EVERY_MS = 500;

/** How long to wait for the counts of a node while the load runs, and for those that all others are compared with, ms. */
const GLANCE_MS = 100;
const PATIENCE_MS = 3000;

/** A node that is dead or stopped has no counts to give for the moment. */
async function requestsOf(backends: Backend[], timeout_ms: number): Promise<(number | undefined)[]> {
  return Promise.all(
    backends.map((backend) =>
      Promise.race([
        backend.counters().then(
          ({ requests }) => requests,
          () => undefined,
        ),
        pause(timeout_ms).then(() => undefined),
      ]),
    ),
  );
}

const sharesOf = (counts: number[]): number[] => {
  const total = counts.reduce((sum, count) => sum + count, 0);
  return counts.map((count) => (total > 0 ? count / total : 0));
};

/** @param last undefined when nothing is known from before: what came earlier is not this load's */
function grownBy(count: number | undefined, last: number | undefined): number {
  if (count === undefined || last === undefined) return 0;
  // A node that was started again counts from 0.
  return count < last ? count : count - last;
}

/** Looks at the nodes' counts again and again until `over`. */
async function watchShares(backends: Backend[], over: AbortSignal): Promise<Shares> {
  let last = await requestsOf(backends, PATIENCE_MS);
  const totals = backends.map(() => 0);
  const shares_over_time: number[][] = [];
  while (backends.length > 0) {
    const ended = over.aborted;
    const now = await requestsOf(backends, ended ? PATIENCE_MS : GLANCE_MS);
    const grown = now.map((count, k) => grownBy(count, last[k]));
    last = now.map((count, k) => count ?? last[k]);
    for (const [k, count] of grown.entries()) totals[k] += count;
    shares_over_time.push(sharesOf(grown));
    if (ended) break;
    for (let ms = 0; ms < SHARE_EVERY_MS && !over.aborted; ms += 20) await pause(20);
  }
  return { shares: sharesOf(totals), shares_over_time: shares_over_time.slice(1) };
}

/** Runs a load while the scenario's events happen and the nodes are watched. */
export async function underLoad<T>(
  scenario: Scenario,
  nodes: Nodes,
  seconds: number,
  load: () => Promise<T>,
): Promise<{ result: T; shares: Shares }> {
  const over = new AbortController();
  const watched = watchShares(nodes.backends, over.signal);
  const happened = scenario.during?.(nodes.backends, seconds, over.signal);
  try {
    const result = await load();
    over.abort();
    await happened;
    return { result, shares: await watched };
  } finally {
    over.abort();
    await Promise.allSettled([watched, happened]);
    for (const backend of nodes.backends) backend.resume();
    await scenario.after?.(nodes.backends);
  }
}
