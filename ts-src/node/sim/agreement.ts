/** The reference case twice, with the same numbers: on real nginx with real backends, and in the simulator. */
import { gatewayOptions, NODES, NORMAL, SLOW, WORKERS } from "../demo/scenario";
import { type Backend, type Kit, type LoadResult, runWrk } from "../testkit";
import { runJob } from "./run";
import { jobOf, parseScenario } from "./scenario";
import { spread } from "./summary";

export interface Setup {
  strategy: string;
  /** Clients of the closed loop. */
  clients: number;
  /** Between an answer and the client's next request, ms. */
  think_ms: number;
  /** How long each part lasts, whole seconds. */
  part_s: number;
}

/** What both sides are asked: all nodes alike, then one of them slow. */
export interface Figures {
  healthy_rate_per_s: number;
  healthy_p50_ms: number;
  healthy_p99_ms: number;
  slow_rate_per_s: number;
  slow_p50_ms: number;
  slow_p99_ms: number;
  /** Of the requests while it is slow. */
  slow_node_share: number;
}

/** What the simulator has to be told of the machine; measured with nodes that all take PROBE_MS. */
export interface Machine {
  /** What a request takes besides its time at the node, P50, ms: a mean would follow the few that were held up. */
  overhead_ms: number;
  /** From an answer to the client's next request, mean, ms: wrk's timers have whole ms. */
  think_ms: number;
  /** P99 of the probe − PROBE_MS: what scheduling does to the tail, which the simulator is not told, ms. */
  overhead_p99_ms: number;
}

const PROBE_MS = 5;
const PROBE_S = 2;

/** The mean of an exponential distribution ÷ its P99. */
const MEAN_PER_P99 = 1 / Math.log(100);

function sum(numbers: number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

function load(url: string, setup: Setup, duration_s: number): Promise<LoadResult> {
  const script = `function delay() return ${setup.think_ms} end`;
  return runWrk({ url, connections: setup.clients, duration_s, script });
}

/** From the probe's latency and rate: clients = rate × (think + latency), Little's law. */
export function machineOf(probe: LoadResult, clients: number): Machine {
  return {
    overhead_ms: Math.max(0, probe.p50_ms - PROBE_MS),
    think_ms: Math.max(0, (clients * 1000) / probe.rps - probe.mean_ms),
    overhead_p99_ms: Math.max(0, probe.p99_ms - PROBE_MS),
  };
}

/** Requests of every node so far. */
async function seen(backends: Backend[]): Promise<number[]> {
  const counters = await Promise.all(backends.map((backend) => backend.counters()));
  return counters.map(({ requests }) => requests);
}

/** The reference case on nginx; as long as three parts and the probe. */
export async function measureNginx(kit: Kit, setup: Setup): Promise<{ figures: Figures; machine: Machine }> {
  const backends = await kit.backends(NODES, { settings: { delay: { dist: "fixed", mean_ms: PROBE_MS } } });
  const gateway = await kit.gateway(gatewayOptions({ name: "check", by: "ax", strategy: setup.strategy }, backends));
  const url = `${gateway.url}/`;
  const probe = await load(url, setup, PROBE_S);
  await Promise.all(backends.map((backend) => backend.set({ delay: NORMAL })));
  await load(url, setup, setup.part_s);
  const healthy = await load(url, setup, setup.part_s);
  await backends[NODES - 1].set({ delay: SLOW });
  const before = await seen(backends);
  const slow = await load(url, setup, setup.part_s);
  const after = await seen(backends);
  await gateway.stop();
  await Promise.all(backends.map((backend) => backend.stop()));
  const requests = after.map((count, k) => count - before[k]);
  const figures = {
    healthy_rate_per_s: healthy.rps,
    healthy_p50_ms: healthy.p50_ms,
    healthy_p99_ms: healthy.p99_ms,
    slow_rate_per_s: slow.rps,
    slow_p50_ms: slow.p50_ms,
    slow_p99_ms: slow.p99_ms,
    slow_node_share: requests[NODES - 1] / sum(requests),
  };
  return { figures, machine: machineOf(probe, setup.clients) };
}

/** The same as a scenario: warm-up, all alike, one slow; each a part long. */
export function scenarioText(setup: Setup, machine: Machine): string {
  const slow = { from_s: 2 * setup.part_s, speed: NORMAL.p99_ms / SLOW.p99_ms };
  return JSON.stringify({
    description: "the reference case",
    warmup_s: setup.part_s,
    duration_s: 2 * setup.part_s,
    gateways: 1,
    workers: WORKERS,
    load: { clients: setup.clients, think_ms: machine.think_ms },
    service: { mean_ms: NORMAL.p99_ms * MEAN_PER_P99, timer_ms: 1 },
    network_ms: machine.overhead_ms / 2,
    // The test kit's nodes work on all requests at once.
    nodes: [
      { count: NODES - 1, slots: setup.clients },
      { slots: setup.clients, events: [slow] },
    ],
  });
}

/** The reference case in the simulator. */
export async function measureSimulator(setup: Setup, machine: Machine, seed: number): Promise<Figures> {
  const scenario = parseScenario("reference", scenarioText(setup, machine));
  const player = { strategy: setup.strategy, strategy_options: {} };
  const { series } = await runJob(jobOf(scenario, player, seed, setup.part_s * 1000));
  return {
    healthy_rate_per_s: series.requests[1] / setup.part_s,
    healthy_p50_ms: series.p50_ms[1],
    healthy_p99_ms: series.p99_ms[1],
    slow_rate_per_s: series.requests[2] / setup.part_s,
    slow_p50_ms: series.p50_ms[2],
    slow_p99_ms: series.p99_ms[2],
    slow_node_share: series.tries[NODES - 1][2] / sum(series.tries.map((node) => node[2])),
  };
}

/** Figure by figure, the median of several runs. */
export function medians<T extends object>(runs: T[]): T {
  const keys = Object.keys(runs[0]) as (keyof T)[];
  return Object.fromEntries(keys.map((key) => [key, spread(runs.map((run) => run[key] as number)).median])) as T;
}
