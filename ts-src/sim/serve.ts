/**
 * What a worker does with a request: the access phase, if there is one (door.ts), the balancer phase
 * (phases/balancer.ts) and the log phase (phases/log.ts).
 */
import { countPick, Outcome } from "../resty/ax/dataplane/counters";
import { beginReserved, beginTry, endTry, noteAnswered } from "../resty/ax/dataplane/in_flight";
import { accountTry, learnFailure } from "../resty/ax/dataplane/outcome";
import { roomCame } from "../resty/ax/dataplane/line";
import { ALL_FULL, pickNode } from "../resty/ax/dataplane/pick";
import { readClass } from "../resty/ax/dataplane/request_class";
import { readKey } from "../resty/ax/dataplane/request_key";
import { addTry, closeRequest, openRequest, type RequestRecord } from "../resty/ax/dataplane/requests";
import { hasPlace } from "../resty/ax/dataplane/reserve";
import { enter } from "./door";
import { send } from "./node";
import { Ending, type SimRequest, type Simulation, type Try } from "./simulation";
import { clockMs, type Processes, type Worker } from "./worker";

function workerOf(request: SimRequest): Worker {
  return request.worker as Worker;
}

/** A request has come to its worker: what its first phase begins with. */
function open(processes: Processes, request: SimRequest): RequestRecord {
  const worker = workerOf(request);
  const record = openRequest(worker.requests, request.id, request.born_ms, false);
  request.record = record;
  processes.current.request = request;
  readClass(worker.upstream, record, processes.report);
  readKey(worker.upstream, record, processes.report);
  return record;
}

/** A request's way through access(): on to the balancer, now or after a wait, or to its end. */
export function admitOne(processes: Processes, sim: Simulation, request: SimRequest): void {
  open(processes, request).upstream = workerOf(request).upstream;
  enter(processes, sim, request, {
    pass(admitted) {
      attemptOne(processes, sim, admitted);
    },
    refuse(refused, reason) {
      refused.refused = reason;
      endRequest(sim, refused, false);
    },
  });
}

/** The node for a try: where access() keeps a place, else a pick. @returns -1: there is none */
function nodeFor(processes: Processes, request: SimRequest, record: RequestRecord, now_ms: number): number {
  const upstream = workerOf(request).upstream;
  if (record.reserved) {
    if (hasPlace(upstream, record)) return record.node;
    endTry(record);
  }
  const node = pickNode(upstream, record, now_ms, processes.report);
  if (node !== ALL_FULL) return node;
  upstream.tallies.total.rejected_overloaded++;
  request.refused = "no room";
  return -1;
}

/** One try: what the balancer phase does. */
export function attemptOne(processes: Processes, sim: Simulation, request: SimRequest): void {
  const upstream = workerOf(request).upstream;
  const now_ms = clockMs(sim);
  const record = request.record ?? open(processes, request);
  processes.current.request = request;
  const node = nodeFor(processes, request, record, now_ms);
  if (node < 0) {
    endRequest(sim, request, false);
    return;
  }
  addTry(record, upstream, node);
  if (record.reserved) beginReserved(upstream, record, now_ms);
  else beginTry(upstream, record, node, now_ms);
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
  const worker = workerOf(request);
  const upstream = worker.upstream;
  const record = request.record;
  if (record !== undefined) {
    endTry(record);
    const tries = request.tries;
    const last = tries.length > 0 ? tries[tries.length - 1] : undefined;
    if (last !== undefined && outcomeOf(last) !== Outcome.Fail) noteAnswered(upstream, last.node, record.start_ms);
    for (let k = 0; k < tries.length; k++) {
      const attempt = tries[k];
      const live = !record.try_learnt[k];
      accountTry(upstream, attempt.node, outcomeOf(attempt), latencyMs(attempt), live, clockMs(sim));
    }
    closeRequest(worker.requests, record);
    request.record = undefined;
    roomCame(worker.hall, upstream, clockMs(sim));
  }
  sim.observer.ended(request, ok, sim.now_ms);
}

function mayRetry(sim: Simulation, request: SimRequest, ending: Ending): boolean {
  const { config, pool } = workerOf(request).upstream;
  const retry = sim.job.retry;
  const max_tries = config.max_tries > 0 ? Math.min(config.max_tries, pool.n) : pool.n;
  if (ending === Ending.Ok || request.tries.length >= max_tries) return false;
  if (ending === Ending.Error) return retry.http_500;
  return ending === Ending.TimedOut ? retry.timeout : retry.error;
}

/** A try is over: the answer goes to the client, or another node is tried. */
export function tryOver(processes: Processes, sim: Simulation, attempt: Try): void {
  const request = attempt.request;
  const record = request.record;
  if (record === undefined || !mayRetry(sim, request, attempt.ending)) {
    endRequest(sim, request, attempt.ending === Ending.Ok);
    return;
  }
  endTry(record);
  learnFailure(workerOf(request).upstream, attempt.node, attempt.ending === Ending.Error, clockMs(sim));
  record.try_learnt[request.tries.length - 1] = true;
  attemptOne(processes, sim, request);
}
