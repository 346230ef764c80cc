import { type Collector, newCollector, tick } from "../collector/collector";
import { isElected, newCandidate, resign } from "../collector/election";
import { type AnyStrategy, strategies } from "../core/strategies/registry";
import type { UpstreamConfig } from "../core/model";
import { sweepTokens } from "../core/rate_limit";
import { claimHolder, keepHolder } from "../core/slots";
import { errorText } from "../dataplane/error_text";
import { publishDoors } from "../dataplane/door_exchange";
import { readDrains } from "../dataplane/drain";
import { publish } from "../dataplane/exchange";
import { readSnapshots } from "../dataplane/snapshots";
import { readOthers } from "../dataplane/worker_record";
import { prepareAll } from "../dataplane/prepare";
import { newHall } from "../dataplane/line";
import { newRequestTable } from "../dataplane/requests";
import { settleLeases } from "../dataplane/leases";
import { attachSlots, readLimits } from "../dataplane/limits";
import { gatewayLimit } from "../dataplane/rate";
import { setHolder } from "../dataplane/slots";
import { shareReserve } from "../core/retry_budget";
import { missingLog } from "../dataplane/log_watch";
import { sweep } from "../dataplane/sweep";
import { refresh } from "../dataplane/refresh";
import { newUpstream, type Upstream } from "../dataplane/upstream";
import { type Prepared, process, type Worker } from "../dataplane/worker";
import { eventText } from "../core/health/events";
import { nowMs, runningMs, wallS } from "../nginx/clock";
import { newKeyReader } from "../nginx/key_reader";
import { decode, encode } from "../nginx/json";
import { logError, logNotice } from "../nginx/log";
import { isRunning, processAlive, processIdentity, workerCount, workerPid } from "../nginx/process";
import { isIdempotent, mayLast } from "../nginx/request";
import { every, pause } from "../nginx/timer";
import { type Faults, newFaults, sendFaults } from "../observe/faults";
import { keepProbing, startProbes, stopProbes } from "./probes";
import { setUpDoor } from "./door";
import { fault, report } from "./faults";
import { wake } from "./wait";

const SWEEP_EVERY_MS = 5000;

/** On top of one flush and one collector interval: for an election that may come between. */
const HOLD_MARGIN_MS = 1000;

function decodeOrNothing(text: string): unknown {
  const [value] = decode(text);
  return value;
}

function defaultsOf(strategy: AnyStrategy): Record<string, unknown> {
  const options: Record<string, unknown> = {};
  for (const [name, field] of pairs(strategy.options)) {
    if (field.kind !== "any" && "default" in field) options[name] = field.default;
  }
  return options;
}

/** What trials need to know of the request that is picked for. */
function readRequestsWith(upstream: Upstream): void {
  upstream.mayRepeat = isIdempotent;
  upstream.mayLast = mayLast;
}

function newWorkerUpstream(config: UpstreamConfig, prepared: Prepared, seed: number): Upstream {
  const custom = prepared.custom[config.name];
  const keys = newKeyReader(config.hash_key);
  if (custom === undefined) return newUpstream(config, strategies[config.strategy], false, seed, keys);
  const [ok, made] = pcall(newUpstream, config, custom, true, seed, keys);
  if (ok) return made;
  fault(
    "strategy",
    `strategy_module "${config.strategy_module}" of upstream "${config.name}": create: ${errorText(made)}`,
    nowMs(),
  );
  // Its pick would not find its state: the default strategy stands in.
  return newUpstream(
    { ...config, strategy_options: defaultsOf(strategies["adaptive"]) },
    strategies["adaptive"],
    false,
    seed,
  );
}

function newWorker(prepared: Prepared, faults: Faults): Worker {
  const pid = workerPid();
  const config = prepared.config;
  const worker: Worker = {
    config,
    store: prepared.store,
    by_name: {},
    upstreams: [],
    requests: newRequestTable(),
    holder: 0,
    identity: processIdentity(pid) ?? `${pid}`,
    rate_limit: gatewayLimit(config, prepared.store, nowMs()),
    hall: newHall(prepared.store, () => worker.exchange.slot, wake, report),
    exchange: {
      store: prepared.store,
      pid,
      slot: 0,
      generation: undefined,
      encode,
      decode: decodeOrNothing,
      processAlive,
      onFault: (code, message) => {
        fault(code, message, nowMs());
      },
    },
    candidate: newCandidate(prepared.store, pid, processAlive),
    collector: undefined,
    probes: undefined,
    collected_at_ms: 0,
    swept_at_ms: 0,
    log_ran: false,
    faults,
    exiting: false,
    log_does_more: false,
    left_at_ms: 0,
  };
  worker.holder = claimHolder(worker.store, worker.identity);
  for (const [name, upstream] of pairs(config.upstreams)) {
    // Different in every worker: round robin must not start everywhere at the same node.
    const made = newWorkerUpstream(upstream, prepared, pid * 7919 + worker.upstreams.length);
    setUpDoor(worker.hall, made);
    readRequestsWith(made);
    made.hold_ms = HOLD_MARGIN_MS + config.flush_interval_ms + config.collector_interval_ms;
    attachSlots(made, worker.store, worker.holder);
    shareReserve(made.retry_budget, workerCount());
    if (made.reports !== undefined) worker.log_does_more = true;
    worker.by_name[name] = made;
    worker.upstreams.push(made);
  }
  return worker;
}

function collect(worker: Worker, now_ms: number): void {
  if (!isElected(worker.candidate, now_ms)) {
    worker.collector = undefined;
    stopProbes(worker.probes);
    worker.probes = undefined;
    return;
  }
  if (worker.collector !== undefined && now_ms - worker.collected_at_ms < worker.config.collector_interval_ms) return;
  worker.collector ??= newOffice(worker, now_ms);
  keepProbing(worker.probes, now_ms);
  worker.collected_at_ms = now_ms;
  tick(worker.collector, now_ms);
}

function newOffice(worker: Worker, now_ms: number): Collector {
  worker.probes = startProbes(worker, now_ms);
  return newCollector(worker.config, {
    store: worker.store,
    encode,
    decode: decodeOrNothing,
    pid: worker.exchange.pid,
    processAlive,
    pause,
    runningMs,
    probes: worker.probes?.source,
    wallS,
    onEvent: (upstream, event) => {
      logNotice(`upstream "${upstream}"${eventText(event)}`);
    },
    onWarning: (kind, message) => {
      fault(kind, message, nowMs());
    },
    holderAlive: isRunning,
  });
}

function receive(worker: Worker, now_ms: number): void {
  receiveAll(worker, now_ms, pause);
}

function receiveAll(worker: Worker, now_ms: number, pauseBetween?: () => void): void {
  readOthers(worker.exchange, worker.upstreams, now_ms);
  readSnapshots(worker.exchange, worker.upstreams, now_ms, pauseBetween);
  readLimits(worker.store, worker.upstreams, decodeOrNothing);
  readDrains(worker.store, worker.upstreams, decodeOrNothing, now_ms);
  for (const upstream of worker.upstreams) {
    refresh(upstream, now_ms);
  }
}

/** Without a number the worker can lease nothing, and keeps no limits; with one that is not its own, others take its slots. */
function keepNumber(worker: Worker): void {
  const holder = keepHolder(worker.store, worker.holder, worker.identity);
  if (holder === worker.holder) return;
  worker.holder = holder;
  for (const upstream of worker.upstreams) if (upstream.slots !== undefined) setHolder(upstream.slots, holder);
}

function prepare(worker: Worker, now_ms: number): void {
  prepareAll(worker.upstreams, now_ms, report, pause);
}

function settle(worker: Worker, now_ms: number): void {
  keepNumber(worker);
  for (const upstream of worker.upstreams) if (upstream.slots !== undefined) settleLeases(upstream.slots, now_ms);
  if (worker.rate_limit !== undefined) sweepTokens(worker.rate_limit, now_ms);
}

function housekeep(worker: Worker, now_ms: number): void {
  sendFaults(worker.faults, worker.store, encode);
  if (now_ms - worker.swept_at_ms < SWEEP_EVERY_MS) return;
  worker.swept_at_ms = now_ms;
  sweep(worker.requests, worker.log_ran, now_ms);
  for (const upstream of worker.upstreams) {
    const missing = missingLog(upstream.logs, upstream.config.name, upstream.picks_total, worker.log_ran, now_ms);
    if (missing !== undefined) fault("log_missing", missing, now_ms);
  }
}

function send(worker: Worker, now_ms: number): void {
  publish(worker.exchange, worker.upstreams, false, now_ms);
  publishDoors(worker.exchange, worker.upstreams, now_ms);
}

function leave(worker: Worker, now_ms: number): void {
  worker.exiting = true;
  worker.log_does_more = true;
  for (const upstream of worker.upstreams) if (upstream.slots !== undefined) upstream.slots.eager = true;
  settle(worker, now_ms);
  publish(worker.exchange, worker.upstreams, true, now_ms);
  stopProbes(worker.probes);
  resign(worker.candidate);
}

/** Every step on its own: one that throws must not take the others along. */
function onTimer(exiting: boolean): void {
  const worker = process.worker;
  if (worker === undefined) return;
  const now_ms = nowMs();
  const steps = exiting ? [leave] : [send, settle, receive, prepare, collect, housekeep];
  for (const step of steps) {
    const [ok, err] = pcall(step, worker, now_ms);
    if (!ok) fault(step === collect ? "collector" : "flush", tostring(err), now_ms);
  }
}

/**
 * Sets up this worker: its view of the upstreams, informed at once by the last snapshot (after a
 * reload the first pick already knows what was known before), and its timer.
 *
 * init_worker_by_lua phase.
 */
export function initWorker(): void {
  const prepared = process.prepared;
  if (prepared === undefined) {
    fault("not_initialised", "init_worker(): init() has not run: add it to init_by_lua_block", nowMs());
    return;
  }
  const faults = process.faults ?? newFaults(logError);
  process.faults = faults;
  const worker = newWorker(prepared, faults);
  process.worker = worker;
  // No pauses here and below, because this worker serves nobody yet.
  const [ok, err] = pcall(receiveAll, worker, nowMs());
  if (!ok) fault("flush", tostring(err), nowMs());
  // By what that has brought.
  const [prepared_ok, failure] = pcall(prepareAll, worker.upstreams, nowMs(), report);
  if (!prepared_ok) fault("flush", tostring(failure), nowMs());
  const refused = every(worker.config.flush_interval_ms, onTimer);
  if (refused !== undefined) fault("flush", `nginx refused the flush timer: ${refused}`, nowMs());
}
