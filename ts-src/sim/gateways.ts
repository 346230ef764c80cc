/**
 * Gateways as they are in nginx, without nginx: every worker runs the data plane around its picks as the
 * balancer and log phases do (phases/balancer.ts, phases/log.ts), and the flush timer's steps as
 * phases/init_worker.ts has them. Workers of a gateway share a Store, gateways share nothing.
 */
import * as cjson from "cjson.safe";
import { type Collector, newCollector, tick } from "../resty/ax/collector/collector";
import { type Candidate, isElected, newCandidate } from "../resty/ax/collector/election";
import type { AxConfig } from "../resty/ax/core/model";
import { drawBelow, newRandom, type Random } from "../resty/ax/core/random";
import { hashNumber, KEY_SEED } from "../resty/ax/core/hash";
import type { Store } from "../resty/ax/core/store";
import { strategies } from "../resty/ax/core/strategies/registry";
import { countPick, Outcome } from "../resty/ax/dataplane/counters";
import { type Exchange, publish, readOthers, readSnapshots } from "../resty/ax/dataplane/exchange";
import { beginTry, endTry, noteAnswered, setLongAside } from "../resty/ax/dataplane/in_flight";
import { accountTry, learnFailure } from "../resty/ax/dataplane/outcome";
import { type FaultReporter, pickNode } from "../resty/ax/dataplane/pick";
import { prepareAll } from "../resty/ax/dataplane/prepare";
import { addTry, closeRequest, newRequestTable, openRequest, type RequestTable } from "../resty/ax/dataplane/requests";
import { newUpstream, releaseHolds, type Upstream } from "../resty/ax/dataplane/upstream";
import { configAt, UPSTREAM } from "./config";
import { pushEvent } from "./events";
import { send } from "./node";
import { Ending, Kind, type Router, type SimRequest, type Simulation, type Timer, type Try } from "./simulation";
import { newStore } from "./store";

interface Worker {
  config: AxConfig;
  store: Store;
  upstream: Upstream;
  requests: RequestTable;
  exchange: Exchange;
  candidate: Candidate;
  collector: Collector | undefined;
  collected_at_ms: number;
  report: FaultReporter;
  /** Replaced at a reload: ends when its requests have ended. */
  exiting: boolean;
}

interface Gateways {
  workers: Worker[];
  stores: Store[];
  random: Random;
  faults: string[];
  report: FaultReporter;
  last_pid: number;
  alive: Record<number, boolean>;
}

/** The data plane's clock began long ago, and it has steps of 1 ms, like the one nginx caches. */
const UPTIME_MS = 1e9;

/** As in phases/init_worker.ts. */
const HOLD_MARGIN_MS = 1000;

/** Complaints kept; more of them say nothing new. */
const FAULTS_MAX = 20;

const json = cjson.new();
json.encode_sparse_array(true);

function clockMs(sim: Simulation): number {
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

function newWorker(gateways: Gateways, config: AxConfig, store: Store): Worker {
  gateways.last_pid++;
  const pid = gateways.last_pid;
  const processAlive = (other: number): boolean => gateways.alive[other];
  gateways.alive[pid] = true;
  const made = newUpstream(
    config.upstreams[UPSTREAM],
    strategies[config.upstreams[UPSTREAM].strategy],
    false,
    pid * 7919,
  );
  made.hold_ms = HOLD_MARGIN_MS + config.flush_interval_ms + config.collector_interval_ms;
  return {
    config,
    store,
    upstream: made,
    requests: newRequestTable(),
    exchange: {
      store,
      pid,
      slot: 0,
      generation: undefined,
      encode,
      decode,
      processAlive,
      onFault(code, message) {
        addFault(gateways.faults, `${code}: ${message}`);
      },
    },
    candidate: newCandidate(store, pid, processAlive),
    collector: undefined,
    collected_at_ms: 0,
    report: gateways.report,
    exiting: false,
  };
}

function receive(worker: Worker, now_ms: number): void {
  const upstreams = [worker.upstream];
  readOthers(worker.exchange, upstreams, now_ms);
  readSnapshots(worker.exchange, upstreams, now_ms);
  releaseHolds(worker.upstream, now_ms);
  setLongAside(worker.upstream, now_ms);
  prepareAll(upstreams, now_ms, worker.report);
}

function collect(gateways: Gateways, worker: Worker, now_ms: number): void {
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
    onWarning(kind, message) {
      addFault(gateways.faults, `${kind}: ${message}`);
    },
  });
  worker.collected_at_ms = now_ms;
  tick(worker.collector, now_ms);
}

/** The flush timer, for the worker's whole life. */
function flushTimer(gateways: Gateways, worker: Worker): Timer {
  const timer: Timer = {
    fire(sim) {
      const now_ms = clockMs(sim);
      publish(worker.exchange, [worker.upstream], worker.exiting, now_ms);
      if (worker.exiting) {
        // Its timers are gone; it publishes when a request ends. So often is often enough.
        if (worker.requests.live === 0) {
          gateways.alive[worker.exchange.pid] = false;
          return;
        }
      } else {
        receive(worker, now_ms);
        collect(gateways, worker, now_ms);
      }
      pushEvent(sim.heap, sim.now_ms + worker.config.flush_interval_ms, Kind.Timer, timer);
    },
  };
  return timer;
}

/** Starts the workers of all gateways, in place of those that run. */
function startWorkers(gateways: Gateways, sim: Simulation): void {
  const config = configAt(sim.job, sim.now_ms);
  for (const worker of gateways.workers) worker.exiting = true;
  gateways.workers = [];
  for (let g = 0; g < sim.job.gateways; g++) {
    for (let w = 0; w < sim.job.workers; w++) {
      const worker = newWorker(gateways, config, gateways.stores[g]);
      gateways.workers.push(worker);
      receive(worker, clockMs(sim));
      const first_ms = sim.now_ms + drawBelow(gateways.random, config.flush_interval_ms);
      pushEvent(sim.heap, first_ms, Kind.Timer, flushTimer(gateways, worker));
    }
  }
}

/** One try: what the balancer phase does from the pick on. */
function attemptOne(gateways: Gateways, sim: Simulation, request: SimRequest): void {
  const worker = request.worker as Worker;
  const upstream = worker.upstream;
  const now_ms = clockMs(sim);
  let record = request.record;
  if (record === undefined) {
    record = openRequest(worker.requests, request.id, request.born_ms, false);
    request.record = record;
    // Scenarios have no keys yet: each request has its own.
    record.hash_key = hashNumber(request.id, KEY_SEED);
  }
  const node = pickNode(upstream, record, now_ms, gateways.report);
  if (node < 0) {
    endRequest(sim, request, false);
    return;
  }
  addTry(record, upstream, node);
  beginTry(upstream, record, node, now_ms);
  countPick(upstream.counters, node);
  upstream.picks_total++;
  // A worker that began later knows more nodes; the ones it knows come first, in the same order.
  send(sim, request, node);
}

/** $upstream_header_time has whole milliseconds, taken from the cached clock at both ends. */
function latencyMs(attempt: Try): number {
  return Math.floor(attempt.over_ms) - Math.floor(attempt.sent_ms);
}

function outcomeOf(attempt: Try): Outcome {
  if (attempt.ending === Ending.Ok) return Outcome.Ok;
  return attempt.ending === Ending.Error ? Outcome.Error : Outcome.Fail;
}

/** The log phase. */
function endRequest(sim: Simulation, request: SimRequest, ok: boolean): void {
  const worker = request.worker as Worker;
  const record = request.record;
  if (record !== undefined) {
    endTry(record);
    const last = request.tries.length > 0 ? request.tries[request.tries.length - 1] : undefined;
    if (last !== undefined && outcomeOf(last) !== Outcome.Fail)
      noteAnswered(worker.upstream, last.node, record.start_ms);
    for (let k = 0; k < request.tries.length; k++) {
      const attempt = request.tries[k];
      accountTry(
        worker.upstream,
        attempt.node,
        outcomeOf(attempt),
        latencyMs(attempt),
        !record.try_learnt[k],
        clockMs(sim),
      );
    }
    closeRequest(worker.requests, record);
    request.record = undefined;
  }
  sim.observer.ended(request, ok, sim.now_ms);
}

function mayRetry(sim: Simulation, request: SimRequest, ending: Ending): boolean {
  const { config, pool } = (request.worker as Worker).upstream;
  const retry = sim.job.retry;
  const max_tries = config.max_tries > 0 ? Math.min(config.max_tries, pool.n) : pool.n;
  if (ending === Ending.Ok || request.tries.length >= max_tries) return false;
  if (ending === Ending.Error) return retry.http_500;
  return ending === Ending.TimedOut ? retry.timeout : retry.error;
}

function tryOver(gateways: Gateways, sim: Simulation, attempt: Try): void {
  const request = attempt.request;
  const record = request.record;
  if (record === undefined || !mayRetry(sim, request, attempt.ending)) {
    endRequest(sim, request, attempt.ending === Ending.Ok);
    return;
  }
  endTry(record);
  const upstream = (request.worker as Worker).upstream;
  learnFailure(upstream, attempt.node, attempt.ending === Ending.Error, clockMs(sim));
  record.try_learnt[request.tries.length - 1] = true;
  attemptOne(gateways, sim, request);
}

/**
 * @param seed of the workers, and of which one a request arrives at
 * @param faults complaints go here
 */
export function newGateways(sim: Simulation, seed: number, faults: string[]): Router {
  const random = newRandom(seed);
  const gateways: Gateways = {
    workers: [],
    stores: [],
    random,
    faults,
    report(kind, message) {
      addFault(faults, `${kind}: ${message}`);
    },
    last_pid: drawBelow(random, 1e6),
    alive: {},
  };
  for (let g = 0; g < sim.job.gateways; g++) gateways.stores[g] = newStore();
  startWorkers(gateways, sim);
  const reload = {
    fire: (now: Simulation): void => {
      startWorkers(gateways, now);
    },
  };
  let reloaded_s = 0;
  for (const node of sim.nodes) {
    // Ascending: checked when the job is read.
    if (node.spec.joins_at_s > reloaded_s) {
      reloaded_s = node.spec.joins_at_s;
      pushEvent(sim.heap, reloaded_s * 1000, Kind.Timer, reload);
    }
  }
  return {
    begin(now, request) {
      request.worker = gateways.workers[drawBelow(random, gateways.workers.length)];
      attemptOne(gateways, now, request);
    },
    tryOver(now, attempt) {
      tryOver(gateways, now, attempt);
    },
    weights: () => gateways.workers[0].upstream.pool.weight,
  };
}
