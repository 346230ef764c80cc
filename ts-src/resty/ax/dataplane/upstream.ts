/**
 * One worker's runtime of one upstream: the pool that strategies read, what keeps it up to date, and
 * the counts it reports. Owned by this worker; lives as long as the worker. Everything in it can be
 * lost with the worker: what must survive is in the snapshot.
 */
import { measureLoads } from "../core/classes";
import type { UpstreamConfig } from "../core/model";
import type { Pool } from "../core/pool";
import { newRandom } from "../core/random";
import { addressKeyOf, type KeyReader } from "../core/request_key";
import { newRetryBudget, type RetryBudget } from "../core/retry_budget";
import type { AddressKey, PickRequest } from "../core/strategy";
import type { AnyStrategy } from "../core/strategies/registry";
import { isUsable as isUsableState, type NodeState, STATES } from "../core/health/states";
import type { Store } from "../core/store";
import type { Snapshot, SnapshotNode } from "../core/wire";
import { type Door, newDoor } from "./door";
import { type Counters, newCounters } from "./counters";
import { newPlacement, type Placement, splitByZone, updateShare } from "./placement";
import { COLD_LATENCY_MS, newPool } from "./pool";
import { prepareWhole } from "./prepare";
import { newRequestRecord, type RequestRecord } from "./requests";
import type { Slots } from "./slots";
import { newTallies, type Tallies } from "../core/tallies";

/** One flush, one collector interval and an election, at their defaults. */
const HOLD_MS = 1600;

/** Own samples older than this yield to the snapshot's: the other workers know better by then. */
const OWN_SAMPLE_FRESH_MS = 3000;

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
  /** Nodes for one retry or one pick under limits; valid during that pick only. */
  scratch: number[];
  /** No node is usable: picks go to any that the operator did not take down. */
  panic: boolean;
  /** JSON text of the snapshot applied last, to see whether it moved. */
  snapshot_text: string | undefined;
  /** Set once log() has run for a request of this upstream. */
  log_seen: boolean;
  /** Requests whose log phase did not run, as seen when another one came to the same address. */
  logs_missed: number;
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
    snapshot_text: undefined,
    log_seen: false,
    logs_missed: 0,
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

/** In the snapshot's rotation, and not held out by this worker. */
export function isUsable(upstream: Upstream, node: number): boolean {
  return isUsableState(upstream.state[node]) && upstream.held_until_ms[node] === 0;
}

/** The operator took it out, in the configuration or at run time: not even panic uses it. */
export function isTaken(upstream: Upstream, node: number): boolean {
  return STATES[upstream.state[node]].by_operator;
}

/** Every node was taken out at run time: those that the configuration does not take out serve on. */
function collectAny(upstream: Upstream): number {
  const pool = upstream.pool;
  let count = 0;
  for (let node = 0; node < pool.n; node++) {
    if (!upstream.config.nodes[node].down) {
      pool.candidates[count] = node;
      count++;
    }
  }
  return count;
}

function collect(upstream: Upstream, backup: boolean, any_state: boolean): number {
  const pool = upstream.pool;
  let count = 0;
  for (let node = 0; node < pool.n; node++) {
    const given = upstream.config.nodes[node];
    if (given.backup === backup && (any_state ? !isTaken(upstream, node) : isUsable(upstream, node))) {
      pool.candidates[count] = node;
      count++;
    }
  }
  return count;
}

/**
 * Decides the tier in use: usable primaries, else usable backups, else every node that the operator did not take out,
 * since a try at a bad node beats an error. The latter also in panic, when the collector finds too few nodes good.
 */
export function rebuildCandidates(upstream: Upstream): void {
  const pool = upstream.pool;
  const spreads = upstream.ruled_panic && upstream.config.panic !== "fail";
  let count = spreads ? 0 : collect(upstream, false, false);
  if (count === 0 && !spreads) count = collect(upstream, true, false);
  upstream.panic = count === 0;
  if (count === 0) count = collect(upstream, false, true);
  if (count === 0) count = collect(upstream, true, true);
  if (count === 0) count = collectAny(upstream);
  pool.candidate_count = count;
  pool.version++;
  const placement = upstream.placement;
  if (placement !== undefined) {
    splitByZone(placement, pool);
    markCandidates(placement.others);
  }
  markCandidates(pool);
  refreshPlacement(upstream);
}

function markCandidates(pool: Pool): void {
  const { candidates, candidate_of, version } = pool;
  for (let k = 0; k < pool.candidate_count; k++) candidate_of[candidates[k]] = version;
}

/** Brings up to date what zones and classes are decided by. Flush, and when candidates change. */
export function refreshPlacement(upstream: Upstream): void {
  const placement = upstream.placement;
  if (placement === undefined) return;
  updateShare(placement, upstream.pool, upstream.config.nodes);
  if (placement.source === undefined) return;
  measureLoads(placement.loads, upstream.pool);
  measureLoads(placement.others_loads, placement.others);
}

/** Keeps a node out of this worker's picks for a while, ahead of the collector's ruling. */
export function hold(upstream: Upstream, node: number, until_ms: number): void {
  const is_new = upstream.held_until_ms[node] === 0;
  upstream.held_until_ms[node] = until_ms;
  // Its further failures come from requests under way: the candidates are the same.
  if (!is_new) return;
  upstream.held_count++;
  rebuildCandidates(upstream);
}

/** The node answers after all. */
export function release(upstream: Upstream, node: number): void {
  if (upstream.held_until_ms[node] === 0) return;
  upstream.held_until_ms[node] = 0;
  upstream.held_count--;
  rebuildCandidates(upstream);
}

/** Lets go of holds that are over. Flush. */
export function releaseHolds(upstream: Upstream, now_ms: number): void {
  if (upstream.held_count === 0) return;
  let held = 0;
  let changed = false;
  for (let node = 0; node < upstream.pool.n; node++) {
    if (upstream.held_until_ms[node] > 0) {
      if (now_ms >= upstream.held_until_ms[node]) {
        upstream.held_until_ms[node] = 0;
        changed = true;
      } else {
        held++;
      }
    }
  }
  upstream.held_count = held;
  if (changed) rebuildCandidates(upstream);
}

/** Whether requests are to be refused: too few nodes are good, and the configuration says so. Access phase. */
export function failsClosed(upstream: Upstream): boolean {
  return upstream.ruled_panic && upstream.config.panic === "fail";
}

/** What a snapshot says of trials and of the limits of ramps. */
function takeLimits(upstream: Upstream, node: number, given: SnapshotNode): void {
  const trial = given.trial ?? 0;
  if (trial !== upstream.trials.granted[node]) {
    upstream.trials.granted[node] = trial;
    upstream.trials.open[node] = trial > 0;
  }
  if (upstream.trials.open[node]) upstream.trials.open_count++;
  upstream.ramp_limit[node] = given.ramp_limit ?? 0;
  if (upstream.ramp_limit[node] > 0) upstream.ramps_limited = true;
}

function medianLatency(snapshot: Snapshot): number {
  const known: number[] = [];
  for (const [, node] of pairs(snapshot.nodes)) {
    if (node.latency_ms !== undefined) known.push(node.latency_ms);
  }
  if (known.length === 0) return COLD_LATENCY_MS;
  known.sort((a, b) => a - b);
  return known[Math.floor(known.length / 2)];
}

/** Takes over a snapshot: states and weights always, measurements where this worker has no fresh ones of its own. */
export function applySnapshot(upstream: Upstream, snapshot: Snapshot, now_ms: number): void {
  const pool = upstream.pool;
  const median_ms = medianLatency(snapshot);
  upstream.ruled_panic = snapshot.panic === true;
  upstream.trials.open_count = 0;
  upstream.ramps_limited = false;
  for (let node = 0; node < pool.n; node++) {
    const given = snapshot.nodes[pool.ids[node]];
    if (given !== undefined) {
      const was_out = !isUsableState(upstream.state[node]) && isUsableState(given.state);
      const is_back = was_out || (upstream.state[node] !== given.state && given.state === "ramping");
      takeLimits(upstream, node, given);
      if (is_back) upstream.counters.streak[node] = 0;
      upstream.state[node] = upstream.config.nodes[node].down ? "offline" : given.state;
      pool.weight[node] = given.weight;
      pool.static_weight[node] = given.static_weight;
      pool.prior[node] = Math.sqrt(given.weight * given.static_weight);
      pool.p99_ms[node] = given.judged_p99_ms ?? -1;
      if (is_back || now_ms - pool.last_sample_ms[node] > OWN_SAMPLE_FRESH_MS) {
        pool.latency_ms[node] = floorLatency(given.latency_ms ?? median_ms);
        pool.peak_latency_ms[node] = pool.latency_ms[node];
        pool.samples[node] = given.samples ?? 0;
        // Failures seen here stand until an answer: the collector's share still has the time before them in it.
        const success = is_back ? given.success : Math.min(given.success, pool.success[node]);
        pool.success[node] = floorSuccess(success);
      }
    }
  }
  rebuildCandidates(upstream);
}

/** nginx measures in whole milliseconds: below half of one, nothing is known but "fast". */
export function floorLatency(latency_ms: number): number {
  const floored = Math.max(latency_ms, 0.5);
  return floored;
}

/** Never 0: a node that always fails must stay comparable, and be able to recover. */
export function floorSuccess(success: number): number {
  const floored = Math.max(success, 0.05);
  return floored;
}
