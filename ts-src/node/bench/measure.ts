/** One measurement: one contender, one scenario, once. */
import { type LoadResult, runOpenLoop, runWrk } from "../testkit";
import { classLoop, type OverloadFigures } from "./class_load";
import type { Target } from "./gateways";
import { drawKeys, type KeyFigures, newKeyTally } from "./keys";
import type { Nodes } from "./nodes";
import type { Scenario } from "./scenarios";
import { type Shares, underLoad } from "./watch";

export interface LoadFigures {
  rps: number;
  p50_ms: number;
  p99_ms: number;
  p999_ms: number;
  /** Answers with a status of 400 or more, and requests without an answer; share of all, 0..1. */
  error_share: number;
  /** At testkit's QUANTILES. */
  quantiles_ms: number[];
  /** Of the open loop: latest that a request was sent after it was due, ms. */
  lag_ms?: number;
}

export interface Sample extends Shares {
  closed?: LoadFigures;
  open?: LoadFigures;
  /** Of a load of two classes, which has neither loop. */
  overload?: OverloadFigures;
  /** CPU of the gateway's processes in the closed loop (else the open one), µs a request. */
  cpu_us: number;
  keys?: KeyFigures;
}

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
  return { open: { ...loadFigures(result), lag_ms: result.worst_lag_ms }, cpu_us, ...shares, ...figures };
}

/** Measures once, after a warm-up. The closed loop's CPU and shares count where both loops are run. */
export async function measure(target: Target, scenario: Scenario, nodes: Nodes, seconds: number): Promise<Sample> {
  if (scenario.classes !== undefined) {
    return classLoop(target, scenario, nodes, { load: seconds, warm_up: WARM_UP_S });
  }
  const connections = Math.max(1, scenario.connections === 0 ? 8 : scenario.connections);
  await runWrk({ url: `${target.url}/`, connections, duration_s: WARM_UP_S });
  const open = scenario.rate > 0 ? await openLoop(target, scenario, nodes, seconds) : undefined;
  if (scenario.connections === 0) return open!;
  return { ...open, ...(await closedLoop(target, scenario, nodes, seconds)) };
}
