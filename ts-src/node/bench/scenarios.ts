/** What is measured: the nodes, what happens to them, and the load. */
import type { Backend, BackendSettings } from "../testkit";
import { pause } from "../testkit";
import { NORMAL, SLOW } from "../demo/scenario";
import type { ClassLoad } from "./class_load";
import { type Contender, FLOOR, OURS, PEERS } from "./contenders";

export interface Scenario {
  name: string;
  /** A sentence on what it shows. */
  about: string;
  /** Settings of each node; or a number of idle nodes that share one process. */
  nodes: Partial<BackendSettings>[] | number;
  workers: number;
  /** Of the closed loop; 0 = none. */
  connections: number;
  /** Requests a second of the open loop; 0 = none. */
  rate: number;
  /** What happens while a load runs; `over` is aborted at its end. */
  during?: (backends: Backend[], seconds: number, over: AbortSignal) => Promise<void>;
  /** Takes back what `during` did and may have left undone. */
  after?: (backends: Backend[]) => Promise<void>;
  /** Load of two classes instead of the loops. */
  classes?: ClassLoad;
  /** Requests have keys: reported are the hits that a cache on each node would have, and who serves the hot key. */
  keyed?: boolean;
  /** Compared when nothing else is asked for. */
  contenders: Contender[];
}

const NODES = 6;

/** Of the open loop: about a third of what the machine does in a closed one, so that the load generator keeps up. */
const RATE = 600;

/** Few enough that two cores, which run the nodes and the load too, are not the limit. */
const CONNECTIONS = 24;

const six = (settings: Partial<BackendSettings>, odd?: Partial<BackendSettings>): Partial<BackendSettings>[] =>
  Array.from({ length: NODES }, (_, k) => (k === NODES - 1 && odd !== undefined ? odd : settings));

const peer = (...names: string[]): Contender[] => PEERS.filter(({ name }) => names.includes(name));
const ours = (...names: string[]): Contender[] => OURS.filter(({ name }) => names.includes(name));

/** The usual few: what most people run, the best that others have, and the default of ours. */
const FEW = [...peer("round robin", "least_conn", "leastconn"), ...ours("adaptive")];

const WITHOUT_SLOW = { ...ours("adaptive")[0], name: "adaptive, slow node absent", without_last: true };

async function wait(ms: number, over: AbortSignal): Promise<boolean> {
  const end_ms = performance.now() + ms;
  while (!over.aborted && performance.now() < end_ms)
    await pause(Math.min(20, Math.max(1, end_ms - performance.now())));
  return !over.aborted;
}

/** Each node stops for 250 ms every 5 s, one after the other, as garbage collectors do. */
async function collectGarbage(backends: Backend[], _seconds: number, over: AbortSignal): Promise<void> {
  for (let k = 0; !over.aborted; k++) {
    const backend = backends[k % backends.length];
    backend.pause();
    await wait(250, over);
    backend.resume();
    if (!(await wait(5000 / backends.length - 250, over))) return;
  }
}

/** The first node dies after a third of the time and is back after two. */
async function killAndRestart(backends: Backend[], seconds: number, over: AbortSignal): Promise<void> {
  if (await wait((seconds * 1000) / 3, over)) await backends[0].kill();
  await wait((seconds * 1000) / 3, over);
  if (!backends[0].isAlive()) await backends[0].restart();
}

const revive = async ([first]: Backend[]): Promise<void> => (first.isAlive() ? undefined : first.restart());

/** Nodes that take five requests at a time, 50 ms each. */
const CLASSES: ClassLoad = { places: 5, service_ms: 50, overload: 2, queue_size: 100, queue_timeout_ms: 1000 };

const base = { workers: 1, connections: CONNECTIONS, rate: 0, contenders: FEW };

export const SCENARIOS: Scenario[] = [
  {
    ...base,
    name: "overhead",
    about: "Idle nodes: what the gateway itself costs.",
    nodes: six({}),
    connections: 32,
    contenders: [...peer("round robin", "least_conn"), ...FLOOR, ...ours("adaptive", "random")],
  },
  {
    ...base,
    name: "overhead_two_workers",
    about: "Idle nodes behind two workers.",
    nodes: six({}),
    workers: 2,
    connections: 32,
    contenders: [...peer("round robin"), ...ours("adaptive")],
  },
  {
    ...base,
    name: "slow_node",
    about: "The reference case: answers have a P99 of 10 ms, on one node of six 80 ms.",
    nodes: six({ delay: NORMAL }, { delay: SLOW }),
    rate: RATE,
    contenders: [...PEERS, ...ours("adaptive", "least_conn", "p2c"), WITHOUT_SLOW],
  },
  {
    ...base,
    name: "slow_node_two_workers",
    about: "The reference case behind two workers.",
    nodes: six({ delay: NORMAL }, { delay: SLOW }),
    workers: 2,
    contenders: [...FEW, WITHOUT_SLOW],
  },
  {
    ...base,
    name: "gc_pauses",
    about: "Each node stops for 250 ms every 5 s.",
    nodes: six({ delay: NORMAL }),
    rate: RATE,
    connections: 0,
    during: collectGarbage,
  },
  {
    ...base,
    name: "black_hole",
    about: "One node fails every request at once.",
    nodes: six({ delay: NORMAL }, { delay: NORMAL, error_share: 1, error_delay_ms: 0 }),
  },
  {
    ...base,
    name: "fast_errors",
    about: "One node fails 30 % of its requests at once.",
    nodes: six({ delay: NORMAL }, { delay: NORMAL, error_share: 0.3, error_delay_ms: 0 }),
  },
  {
    ...base,
    name: "kill_restart",
    about: "One node is killed, and started again.",
    nodes: six({ delay: NORMAL }),
    rate: RATE,
    connections: 0,
    during: killAndRestart,
    after: revive,
  },
  {
    ...base,
    name: "heterogeneous",
    about: "Two nodes at a quarter, two at half the speed of the others, 4 requests at a time each.",
    nodes: [1, 1, 2, 2, 4, 4].map((slowness) => ({ slots: 4, delay: { dist: "exp", mean_ms: 2 * slowness } as const })),
  },
  {
    ...base,
    name: "hot_key",
    about: "One key is 30 % of the traffic; hits are of a cache of 150 keys a node, of 1000 in all.",
    nodes: six({ delay: { dist: "fixed", mean_ms: 2 } }),
    connections: 0,
    rate: RATE,
    keyed: true,
    contenders: [...peer("round robin", "hash consistent"), ...ours("affinity", "consistent_hash", "adaptive")],
  },
  {
    ...base,
    name: "overload",
    about: "Twice the load that two nodes can take; a fifth of it is of the first class, the rest can wait.",
    nodes: [1, 2].map(() => ({ delay: { dist: "fixed", mean_ms: CLASSES.service_ms }, slots: CLASSES.places })),
    connections: 0,
    classes: CLASSES,
    contenders: [...peer("least_conn", "leastconn"), ...ours("adaptive")],
  },
  ...[10, 100, 1000].map((nodes) => ({
    ...base,
    name: `nodes_${nodes}`,
    about: `${nodes} idle nodes: what the size of the pool costs.`,
    nodes,
    connections: 32,
    contenders: [...peer("round robin"), ...ours("adaptive")],
  })),
];
