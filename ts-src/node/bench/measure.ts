/** One measurement: one contender, one scenario, once. */
import { type Backend, type LoadResult, pause, runOpenLoop, runWrk } from "../testkit";
import type { Target } from "./gateways";
import { drawKeys, type KeyFigures, newKeyTally } from "./keys";
import type { Nodes } from "./nodes";
import type { Scenario } from "./scenarios";

export interface LoadFigures {
  rps: number;
  p50_ms: number;
  p99_ms: number;
  p999_ms: number;
  /** Answers with a status of 400 or more, and requests without an answer; share of all, 0..1. */
  error_share: number;
  /** At testkit's QUANTILES. */
  quantiles_ms: number[];
}

export interface Sample {
  closed?: LoadFigures;
  open?: LoadFigures;
  /** CPU of the gateway's processes in the closed loop (else the open one), µs a request. */
  cpu_us: number;
  /** Of the requests that the nodes got, by node, 0..1. Empty when nodes are many in one process. */
  shares: number[];
  /** The same for each interval of SHARE_EVERY_MS. */
  shares_over_time: number[][];
  keys?: KeyFigures;
}

export const SHARE_EVERY_MS = 500;

/** Time for connections to open, code to be compiled and the contender to learn. */
export const WARM_UP_S = 1;

export function loadFigures(load: LoadResult): LoadFigures {
  const { status, connect, read, write, timeout } = load.errors;
  const unanswered = connect + read + write + timeout;
  const { rps, p50_ms, p99_ms, p999_ms, quantiles_ms } = load;
  return {
    rps,
    p50_ms,
    p99_ms,
    p999_ms,
    quantiles_ms,
    error_share: (status + unanswered) / Math.max(1, load.requests + unanswered),
  };
}

/** A node that is dead or stopped has no counts to give for the moment. */
async function requestsOf(backends: Backend[]): Promise<(number | undefined)[]> {
  return Promise.all(
    backends.map((backend) =>
      Promise.race([
        backend.counters().then(
          ({ requests }) => requests,
          () => undefined,
        ),
        pause(100).then(() => undefined),
      ]),
    ),
  );
}

const sharesOf = (counts: number[]): number[] => {
  const total = counts.reduce((sum, count) => sum + count, 0);
  return counts.map((count) => (total > 0 ? count / total : 0));
};

/** Looks at the nodes' counts again and again until `over`. */
async function watchShares(
  backends: Backend[],
  over: AbortSignal,
): Promise<Pick<Sample, "shares" | "shares_over_time">> {
  const start = await requestsOf(backends);
  let last = start.map((count) => count ?? 0);
  const totals = backends.map(() => 0);
  const shares_over_time: number[][] = [];
  while (backends.length > 0) {
    const ended = over.aborted;
    const now = await requestsOf(backends);
    // A node that was started again counts from 0.
    const grown = now.map((count, k) => (count === undefined ? 0 : count < last[k] ? count : count - last[k]));
    last = now.map((count, k) => count ?? last[k]);
    for (const [k, count] of grown.entries()) totals[k] += count;
    shares_over_time.push(sharesOf(grown));
    if (ended) break;
    for (let ms = 0; ms < SHARE_EVERY_MS && !over.aborted; ms += 20) await pause(20);
  }
  return { shares: sharesOf(totals), shares_over_time: shares_over_time.slice(1) };
}

/** Runs a load while the scenario's events happen and the nodes are watched. */
async function underLoad<T>(
  scenario: Scenario,
  nodes: Nodes,
  seconds: number,
  load: () => Promise<T>,
): Promise<{ result: T; shares: Pick<Sample, "shares" | "shares_over_time"> }> {
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

async function closedLoop(target: Target, scenario: Scenario, nodes: Nodes, seconds: number): Promise<Sample> {
  const before_s = target.cpuSeconds();
  const { result, shares } = await underLoad(scenario, nodes, seconds, () =>
    runWrk({ url: `${target.url}/`, connections: scenario.connections, duration_s: seconds }),
  );
  const cpu_us = ((target.cpuSeconds() - before_s) / Math.max(1, result.requests)) * 1e6;
  return { closed: loadFigures(result), cpu_us, ...shares };
}

const textOf = (header: unknown): string => (typeof header === "string" ? header : "");

async function openLoop(target: Target, scenario: Scenario, nodes: Nodes, seconds: number): Promise<Sample> {
  const count = scenario.rate * seconds;
  const keys = scenario.keyed === true ? drawKeys(count) : undefined;
  const tally = newKeyTally();
  const before_s = target.cpuSeconds();
  const { result, shares } = await underLoad(scenario, nodes, seconds, () =>
    runOpenLoop({
      url: `${target.url}/`,
      rate: scenario.rate,
      count,
      pathOf: keys === undefined ? undefined : (number) => `?key=${keys[number]}`,
      onAnswer:
        keys === undefined
          ? undefined
          : ({ headers }, number) => tally.note(keys[number], textOf(headers["x-backend"])),
    }),
  );
  const cpu_us = ((target.cpuSeconds() - before_s) / Math.max(1, result.requests)) * 1e6;
  const figures = keys === undefined ? {} : { keys: tally.figures() };
  return { open: loadFigures(result), cpu_us, ...shares, ...figures };
}

/** Measures once, after a warm-up. The closed loop's CPU and shares count where both loops are run. */
export async function measure(target: Target, scenario: Scenario, nodes: Nodes, seconds: number): Promise<Sample> {
  const connections = Math.max(1, scenario.connections === 0 ? 8 : scenario.connections);
  await runWrk({ url: `${target.url}/`, connections, duration_s: WARM_UP_S });
  const open = scenario.rate > 0 ? await openLoop(target, scenario, nodes, seconds) : undefined;
  if (scenario.connections === 0) return open!;
  return { ...open, ...(await closedLoop(target, scenario, nodes, seconds)) };
}
