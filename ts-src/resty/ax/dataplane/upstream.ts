/**
 * One worker's runtime of one upstream: the pool that strategies read, what keeps it up to date, and
 * the counts it reports. Owned by this worker; lives as long as the worker. Everything in it can be
 * lost with the worker: what must survive is in the snapshot.
 */
import { type LogWatch, newLogWatch } from "./log_watch";
import type { UpstreamConfig } from "../core/model";
import type { Pool } from "../core/pool";
import { newRandom } from "../core/random";
import { addressKeyOf, type KeyReader } from "../core/request_key";
import { newRetryBudget, type RetryBudget } from "../core/retry_budget";
import type { AddressKey, PickRequest } from "../core/strategy";
import type { AnyStrategy } from "../core/strategies/registry";
import type { NodeState } from "../core/health/states";
import type { Store } from "../core/store";
import { rebuildCandidates } from "./candidates";
import { type Door, newDoor } from "./door";
import { type Counters, newCounters } from "./counters";
import { newPlacement, type Placement } from "./placement";
import { newPool } from "./pool";
import { prepareWhole } from "./prepare";
import { newReports, type Reports } from "./reports";
import { newRequestRecord, type RequestRecord } from "./requests";
import type { Slots } from "./slots";
import { newTallies, type Tallies } from "../core/tallies";

/** One flush, one collector interval and an election, at their defaults. */
const HOLD_MS = 1600;

/** Trials of half-open nodes, as this worker knows them (trials.ts). Written by flushes and by picks. */
export interface Trials {
  /** By node: number of the trial that is granted, 0 = none; and whether this worker may still try to take it. */
  granted: number[];
  open: boolean[];
  open_count: number;
  /** The node whose trial the pick under way has taken; -1 = none. */
  taken: number;
  /** Requests in a row that left an open trial to others. */
  passed: number;
}

export interface Upstream {
  config: UpstreamConfig;
  pool: Pool;
  counters: Counters;
  /** Reads load reports in answers; undefined without the option `orca`. */
  reports: Reports | undefined;
  strategy: AnyStrategy;
  strategy_state: never;
  /** A user's module: called under pcall, its answers checked. */
  strategy_is_custom: boolean;
  request: PickRequest;
  /** Zones and classes; absent when neither is configured. */
  placement: Placement | undefined;
  /** What reads the keys of requests; undefined: the strategy has no use for them. */
  keys: KeyReader | undefined;
  address_key: AddressKey | undefined;
  /** Requests without a value for `hash_key`, and how many of them the shared store knows of. */
  keyless_total: number;
  keyless_sent: number;
  /** Classes, admission and the queue: what access() works with. */
  door: Door;
  /** Heads of the per-node lists of requests in flight, oldest first. */
  flights: RequestRecord[];
  state: NodeState[];
  /** This worker alone keeps the node out until then, monotonic ms: until the collector has ruled. */
  held_until_ms: number[];
  held_count: number;
  /** How long a hold lasts, ms: until the collector's ruling has arrived. */
  hold_ms: number;
  /** Nodes that the operator did not take down. */
  usable: number;
  /** The concurrency limits; undefined: none are kept (simulations, specs). */
  slots: Slots | undefined;
  /** JSON text of the adaptive limits applied last, to see whether one moved. */
  limits_text: string | undefined;
  /** How many retries are allowed now. */
  retry_budget: RetryBudget;
  /** What was refused, and why. */
  tallies: Tallies;
  /** The collector has ruled that too few nodes are good: all of them are used. */
  ruled_panic: boolean;
  trials: Trials;
  /** Most requests in flight at a ramping node, over all workers; 0 = no limit. */
  ramp_limit: number[];
  ramps_limited: boolean;
  /** Where trials are taken; absent before the first snapshot. */
  store: Store | undefined;
  /** Whether the request may be sent twice: a trial may fail. Absent: every one may. */
  mayRepeat?: (this: void) => boolean;
  /** Whether the current request is going to last by its nature; absent: not known. */
  mayLast?: (this: void) => boolean;
  /** Nodes for one retry or one pick under limits; valid during that pick only. */
  scratch: number[];
  /** No node is usable: picks go to any that the operator did not take down. */
  panic: boolean;
  /** JSON of the snapshot applied last, to see whether it moved; and when that was, monotonic ms. */
  snapshot_body: string | undefined;
  snapshot_taken_ms: number;
  /** Whether the ends of requests are seen. */
  logs: LogWatch;
  picks_total: number;
  /** Whose turn it is among equals in picks that no strategy makes. Written by them; begins elsewhere in each worker. */
  turn: number;
}

/**
 * @param strategy built-in, or the user's module
 * @param seed differs between workers
 * @param keys reads the keys of requests, for a strategy with `uses_key`
 */
export function newUpstream(
  config: UpstreamConfig,
  strategy: AnyStrategy,
  custom: boolean,
  seed: number,
  keys?: KeyReader,
): Upstream {
  const pool = newPool(config);
  const upstream: Upstream = {
    config,
    pool,
    counters: newCounters(pool.n),
    reports: config.orca ? newReports(pool.n) : undefined,
    strategy,
    strategy_state: undefined as never,
    strategy_is_custom: custom,
    request: { now_ms: 0, tries: 0, key: 0 },
    placement: newPlacement(config, pool, seed),
    keys: strategy.uses_key === true ? keys : undefined,
    address_key: strategy.by_address === true ? addressKeyOf(config.strategy_options) : undefined,
    keyless_total: 0,
    keyless_sent: 0,
    door: newDoor(),
    flights: [],
    state: [],
    held_until_ms: [],
    held_count: 0,
    hold_ms: HOLD_MS,
    usable: 0,
    slots: undefined,
    limits_text: undefined,
    retry_budget: newRetryBudget(config.retry_ratio, config.retry_min_per_s),
    tallies: newTallies(),
    ruled_panic: false,
    trials: { granted: [], open: [], open_count: 0, taken: -1, passed: 0 },
    ramp_limit: [],
    ramps_limited: false,
    store: undefined,
    scratch: [],
    panic: false,
    snapshot_body: undefined,
    snapshot_taken_ms: 0,
    logs: newLogWatch(),
    picks_total: 0,
    turn: Math.floor(Math.abs(seed)),
  };
  setUp(upstream, seed);
  return upstream;
}

/** All as it is before the first snapshot. */
function setUp(upstream: Upstream, seed: number): void {
  for (let node = 0; node < upstream.pool.n; node++) setUpNode(upstream, node);
  rebuildCandidates(upstream);
  startStrategy(upstream, seed);
}

/** Makes the strategy's state, one for each view, ready for the first pick. */
function startStrategy(upstream: Upstream, seed: number): void {
  const { config, placement, strategy } = upstream;
  upstream.strategy_state = strategy.create(upstream.pool, config.strategy_options, newRandom(seed));
  if (placement !== undefined && config.zone !== undefined) {
    placement.others_state = strategy.create(placement.others, config.strategy_options, newRandom(seed));
  }
  prepareWhole(upstream, 0);
}

function setUpNode(upstream: Upstream, node: number): void {
  const given = upstream.config.nodes[node];
  upstream.flights[node] = newListHead();
  upstream.state[node] = given.down ? "offline" : "online";
  upstream.held_until_ms[node] = 0;
  upstream.trials.granted[node] = 0;
  upstream.trials.open[node] = false;
  upstream.ramp_limit[node] = 0;
  if (!given.down) upstream.usable++;
}

function newListHead(): RequestRecord {
  const head = newRequestRecord();
  head.prev = head;
  head.next = head;
  return head;
}
