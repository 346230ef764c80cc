/**
 * One worker of a gateway as it is in nginx, without nginx: its data plane, and the steps of its flush timer as
 * phases/init_worker.ts has them. Workers of a gateway share a Store.
 */
import * as cjson from "cjson.safe";
import { type Collector, newCollector, tick } from "../resty/ax/collector/collector";
import { type Candidate, isElected, newCandidate } from "../resty/ax/collector/election";
import type { AxConfig } from "../resty/ax/core/model";
import { type RateLimit, sweepTokens } from "../resty/ax/core/rate_limit";
import { claimHolder } from "../resty/ax/core/slots";
import type { Store } from "../resty/ax/core/store";
import { strategies } from "../resty/ax/core/strategies/registry";
import { publishDoors } from "../resty/ax/dataplane/door_exchange";
import { readDrains } from "../resty/ax/dataplane/drain";
import { type Exchange, publish } from "../resty/ax/dataplane/exchange";
import { readSnapshots } from "../resty/ax/dataplane/snapshots";
import { readOthers } from "../resty/ax/dataplane/worker_record";
import { settleLeases } from "../resty/ax/dataplane/leases";
import { attachSlots, readLimits } from "../resty/ax/dataplane/limits";
import { type Hall, newHall, type Waiter } from "../resty/ax/dataplane/line";
import { setUpLine } from "../resty/ax/dataplane/line_sizes";
import type { FaultReporter } from "../resty/ax/dataplane/pick";
import { prepareAll } from "../resty/ax/dataplane/prepare";
import { gatewayLimit } from "../resty/ax/dataplane/rate";
import { newRequestTable, type RequestTable } from "../resty/ax/dataplane/requests";
import { refresh } from "../resty/ax/dataplane/refresh";
import { newUpstream, type Upstream } from "../resty/ax/dataplane/upstream";
import { UPSTREAM } from "./config";
import { pushEvent } from "./events";
import { classReader, keyReader } from "./keys";
import { Kind, type SimRequest, type Simulation, type Timer } from "./simulation";

export interface Worker {
  config: AxConfig;
  store: Store;
  upstream: Upstream;
  requests: RequestTable;
  /** Requests that wait for room. */
  hall: Hall;
  /** The gateway's limit of requests a second; undefined = none. */
  rate_limit: RateLimit | undefined;
  exchange: Exchange;
  candidate: Candidate;
  collector: Collector | undefined;
  collected_at_ms: number;
  report: FaultReporter;
  /** Replaced at a reload: ends when its requests have ended. */
  exiting: boolean;
}

/** What the processes of one run have in common: what the operating system knows of them, and where complaints go. */
export interface Processes {
  last_pid: number;
  alive: Record<number, boolean>;
  faults: string[];
  report: FaultReporter;
  /** The request whose phase runs now. */
  current: { request: SimRequest | undefined };
}

/** The data plane's clock began long ago, and it has steps of 1 ms, like the one nginx caches. */
const UPTIME_MS = 1e9;

/** As in phases/init_worker.ts. */
const HOLD_MARGIN_MS = 1000;

/** Complaints kept; more of them say nothing new. */
const FAULTS_MAX = 20;

const json = cjson.new();
json.encode_sparse_array(true);

/** @returns the time as the data plane sees it, ms */
export function clockMs(sim: Simulation): number {
  return UPTIME_MS + Math.floor(sim.now_ms);
}

function encode(value: unknown): string | undefined {
  return json.encode(value)[0];
}

function decode(text: string): unknown {
  const [value] = json.decode(text);
  return value;
}

function addFault(faults: string[], text: string): void {
  if (faults.length < FAULTS_MAX && !faults.includes(text)) faults.push(text);
}

/**
 * @param first_pid process ids count up from there
 * @param faults complaints go here
 */
export function newProcesses(first_pid: number, faults: string[]): Processes {
  return {
    last_pid: first_pid,
    alive: {},
    faults,
    report(kind, message) {
      addFault(faults, `${kind}: ${message}`);
    },
    current: { request: undefined },
  };
}

/** The worker's view of the upstream, with what init_worker() sets up for it. */
function newWorkerUpstream(processes: Processes, sim: Simulation, config: AxConfig, pid: number): Upstream {
  const given = config.upstreams[UPSTREAM];
  const keys = keyReader(processes.current, given.hash_key !== undefined);
  const upstream = newUpstream(given, strategies[given.strategy], false, pid * 7919, keys);
  upstream.hold_ms = HOLD_MARGIN_MS + config.flush_interval_ms + config.collector_interval_ms;
  if (given.class_source !== undefined) upstream.door.class_reader = classReader(processes.current, sim.job.classes);
  // Wherever classes come from: here nobody writes one that is not their own.
  if (upstream.placement !== undefined) upstream.placement.guarded = false;
  return upstream;
}

/** Wakes a request that waits (door.ts). */
export type Wake = (this: void, sim: Simulation, worker: Worker, waiter: Waiter) => void;

/** @param store shared with the other workers of its gateway */
export function newWorker(processes: Processes, sim: Simulation, config: AxConfig, store: Store, wake: Wake): Worker {
  processes.last_pid++;
  const pid = processes.last_pid;
  const processAlive = (other: number): boolean => processes.alive[other];
  processes.alive[pid] = true;
  const worker: Worker = {
    config,
    store,
    upstream: newWorkerUpstream(processes, sim, config, pid),
    requests: newRequestTable(),
    hall: newHall(
      store,
      () => worker.exchange.slot,
      (waiter) => {
        wake(sim, worker, waiter);
      },
      processes.report,
    ),
    rate_limit: gatewayLimit(config, store, clockMs(sim)),
    exchange: {
      store,
      pid,
      slot: 0,
      generation: undefined,
      encode,
      decode,
      processAlive,
      onFault(code, message) {
        addFault(processes.faults, `${code}: ${message}`);
      },
    },
    candidate: newCandidate(store, pid, processAlive),
    collector: undefined,
    collected_at_ms: 0,
    report: processes.report,
    exiting: false,
  };
  setUpLine(worker.hall, worker.upstream);
  attachSlots(worker.upstream, store, claimHolder(store, `${pid}`));
  return worker;
}

/** Takes in what the other workers and the collector have published. */
export function receive(worker: Worker, now_ms: number): void {
  const upstreams = [worker.upstream];
  readOthers(worker.exchange, upstreams, now_ms);
  readSnapshots(worker.exchange, upstreams, now_ms);
  readLimits(worker.store, upstreams, decode);
  readDrains(worker.store, upstreams, decode, now_ms);
  refresh(worker.upstream, now_ms);
  prepareAll(upstreams, now_ms, worker.report);
}

function collect(processes: Processes, worker: Worker, now_ms: number): void {
  if (!isElected(worker.candidate, now_ms)) {
    worker.collector = undefined;
    return;
  }
  if (worker.collector !== undefined && now_ms - worker.collected_at_ms < worker.config.collector_interval_ms) return;
  worker.collector ??= newCollector(worker.config, {
    store: worker.store,
    encode,
    decode,
    pid: worker.exchange.pid,
    processAlive: worker.exchange.processAlive,
    holderAlive: (identity) => processes.alive[tonumber(identity) ?? 0],
    onWarning(kind, message) {
      addFault(processes.faults, `${kind}: ${message}`);
    },
  });
  worker.collected_at_ms = now_ms;
  tick(worker.collector, now_ms);
}

/** A reload has replaced the worker: it serves what it has, and takes nothing new. */
export function leave(worker: Worker, now_ms: number): void {
  worker.exiting = true;
  const slots = worker.upstream.slots;
  if (slots === undefined) return;
  slots.eager = true;
  settleLeases(slots, now_ms);
}

/** What its waiters do in a worker that shuts down and has no timers (phases/leaving.ts). */
function flushWhileLeaving(worker: Worker, now_ms: number): void {
  const upstreams = [worker.upstream];
  readOthers(worker.exchange, upstreams, now_ms);
  readSnapshots(worker.exchange, upstreams, now_ms);
  readLimits(worker.store, upstreams, decode);
  readDrains(worker.store, upstreams, decode, now_ms);
}

/** One flush. @returns whether there will be another one */
function flush(processes: Processes, worker: Worker, now_ms: number): boolean {
  publish(worker.exchange, [worker.upstream], worker.exiting, now_ms);
  publishDoors(worker.exchange, [worker.upstream], now_ms);
  if (worker.exiting) {
    // Its timers are gone; it publishes when a request ends. So often is often enough.
    const done = worker.requests.live === 0;
    if (done) processes.alive[worker.exchange.pid] = false;
    else if (worker.hall.poller !== undefined) flushWhileLeaving(worker, now_ms);
    return !done;
  }
  if (worker.upstream.slots !== undefined) settleLeases(worker.upstream.slots, now_ms);
  if (worker.rate_limit !== undefined) sweepTokens(worker.rate_limit, now_ms);
  receive(worker, now_ms);
  collect(processes, worker, now_ms);
  return true;
}

/** The flush timer, for the worker's whole life. */
export function flushTimer(processes: Processes, worker: Worker): Timer {
  const timer: Timer = {
    fire(sim) {
      if (!flush(processes, worker, clockMs(sim))) return;
      pushEvent(sim.heap, sim.now_ms + worker.config.flush_interval_ms, Kind.Timer, timer);
    },
  };
  return timer;
}
