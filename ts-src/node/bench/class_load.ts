/** More load of two classes than the nodes can take: how it is offered, and what is measured of it. */
import { type Backend, http, QUANTILES, waitFor } from "../testkit";
import { percentile } from "../testkit/openloop";
import type { Target } from "./gateways";
import type { Nodes } from "./nodes";
import type { Scenario } from "./scenarios";
import { CLASSES, offer, rateOf, type Tally } from "./two_classes";
import { type Shares, underLoad } from "./watch";

export interface ClassLoad {
  /** Requests that a node works on at a time, and how long on each, ms. */
  places: number;
  service_ms: number;
  /** Offered, as a multiple of what the nodes can take. */
  overload: number;
  /** Requests that may wait in the gateway, where it has a limit for that, and how long, ms. */
  queue_size: number;
  queue_timeout_ms: number;
}

/** What became of one class; times are medians over repetitions in a row of results. */
export interface ClassFigures {
  served: number;
  refused: number;
  /** Neither served nor refused: errors. */
  other: number;
  p50_ms: number;
  p99_ms: number;
  /** How long a refusal takes, P50. */
  refusal_ms: number;
  quantiles_ms: number[];
}

export interface OverloadFigures {
  /** Answers while load came, its first second left out, of those that the nodes could have given meanwhile. */
  goodput: number;
  /** How long a place at a node was empty between two requests, ms: what is missing in the goodput. */
  empty_ms: number;
  /** Most requests that a node worked on at a time, by its own count. */
  max_active: number;
  /** From the last answer on, until a request is served as on an idle gateway, ms. */
  idle_after_ms: number;
  /** Answers a second. */
  rps: number;
  /** Latest that a request was sent after it was due, ms. */
  lag_ms: number;
  error_share: number;
  classes: Record<string, ClassFigures>;
}

/** Until the queue is full, ms: nobody waits yet, and places may be empty. */
const EDGE_MS = 1000;

/** Shorter than this there is too little after the edge to tell a rate from, s. */
export const CLASS_LOAD_MIN_S = 5;

/** A second for the queue to run empty, and some for the look at an idle gateway, s. */
export const CLASS_LOAD_AFTER_S = 1.5;

const nodesOf = ({ nodes }: Scenario): number => (typeof nodes === "number" ? nodes : nodes.length);

/** Requests a second that the nodes can take. */
export function capacityOf(scenario: Scenario, { places, service_ms }: ClassLoad): number {
  return (nodesOf(scenario) * places * 1000) / service_ms;
}

/** How long until a request is served as on an idle gateway, ms. */
async function recovery(url: string, service_ms: number): Promise<number> {
  const start_ms = performance.now();
  await waitFor("the gateway to be idle", async () => {
    const sent_ms = performance.now();
    const answer = await http(`${url}/`, { headers: { "X-Class": "batch" } });
    return answer.status === 200 && performance.now() - sent_ms < 2 * service_ms;
  });
  return performance.now() - start_ms;
}

function figuresOf({ served_ms, refused_ms, other }: Tally): ClassFigures {
  const served = [...served_ms].sort((a, b) => a - b);
  const refused = [...refused_ms].sort((a, b) => a - b);
  return {
    served: served.length,
    refused: refused.length,
    other: other.length,
    p50_ms: percentile(served, 0.5),
    p99_ms: percentile(served, 0.99),
    refusal_ms: percentile(refused, 0.5),
    quantiles_ms: QUANTILES.map((share) => percentile(served, share)),
  };
}

const sum = (counts: number[]): number => counts.reduce((total, count) => total + count, 0);

async function mostActive(backends: Backend[]): Promise<number> {
  const counters = await Promise.all(backends.map((backend) => backend.counters()));
  return Math.max(...counters.map(({ max_active }) => max_active));
}

/** Loads with both classes for some seconds, after as long a warm-up as is given. */
export async function classLoop(
  target: Target,
  scenario: Scenario,
  nodes: Nodes,
  seconds: { load: number; warm_up: number },
): Promise<{ overload: OverloadFigures; cpu_us: number } & Shares> {
  const load = scenario.classes!;
  const duration_s = Math.max(CLASS_LOAD_MIN_S, seconds.load);
  const capacity_rps = capacityOf(scenario, load);
  const offering = (duration: number): Promise<Record<string, Tally>> =>
    offer(`${target.url}/`, capacity_rps * load.overload, duration, target.refusals);
  await offering(seconds.warm_up);
  await recovery(target.url, load.service_ms);
  for (const backend of nodes.backends) await backend.resetCounters();
  const before_s = target.cpuSeconds();
  const start_ms = performance.now();
  const { result: tallies, shares } = await underLoad(scenario, nodes, duration_s, () => offering(duration_s));
  const cpu_s = target.cpuSeconds() - before_s;
  const idle_after_ms = await recovery(target.url, load.service_ms);
  const at_ms = Object.values(tallies).flatMap(({ served_at_ms }) => served_at_ms);
  const counted_ms = at_ms.filter((time) => time >= start_ms + EDGE_MS && time < start_ms + duration_s * 1000);
  if (counted_ms.length < 2) throw new Error("next to no request was served");
  const rps = rateOf(counted_ms);
  const classes = Object.fromEntries(CLASSES.map((name) => [name, figuresOf(tallies[name])]));
  const all = Object.values(classes);
  const sent = sum(all.map(({ served, refused, other }) => served + refused + other));
  const overload: OverloadFigures = {
    goodput: rps / capacity_rps,
    empty_ms: (load.service_ms * capacity_rps) / rps - load.service_ms,
    max_active: await mostActive(nodes.backends),
    idle_after_ms,
    rps,
    lag_ms: Math.max(...CLASSES.map((name) => tallies[name].lag_ms)),
    error_share: sum(all.map(({ other }) => other)) / Math.max(1, sent),
    classes,
  };
  return { overload, cpu_us: (cpu_s / Math.max(1, sent)) * 1e6, ...shares };
}
