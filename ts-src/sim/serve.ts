/** What a worker does with a request: the balancer phase (phases/balancer.ts) and the log phase (phases/log.ts). */
import { countPick, Outcome } from "../resty/ax/dataplane/counters";
import { beginTry, endTry, noteAnswered } from "../resty/ax/dataplane/in_flight";
import { accountTry, learnFailure } from "../resty/ax/dataplane/outcome";
import { pickNode } from "../resty/ax/dataplane/pick";
import { roleOf } from "../resty/ax/dataplane/placement";
import { readKey } from "../resty/ax/dataplane/request_key";
import { addTry, closeRequest, openRequest, type RequestRecord } from "../resty/ax/dataplane/requests";
import { send } from "./node";
import { Ending, type SimRequest, type Simulation, type Try } from "./simulation";
import { clockMs, type Processes, type Worker } from "./worker";

function workerOf(request: SimRequest): Worker {
  return request.worker as Worker;
}

/** A request has come to its worker: its first part in the balancer phase. */
function open(sim: Simulation, request: SimRequest): RequestRecord {
  const worker = workerOf(request);
  const record = openRequest(worker.requests, request.id, request.born_ms, false);
  request.record = record;
  const placement = worker.upstream.placement;
  if (placement?.source !== undefined && request.class_at >= 0) {
    record.role = roleOf(placement, sim.job.classes[request.class_at].name);
  }
  return record;
}

/** One try: what the balancer phase does. */
export function attemptOne(processes: Processes, sim: Simulation, request: SimRequest): void {
  const worker = workerOf(request);
  const upstream = worker.upstream;
  const now_ms = clockMs(sim);
  const record = request.record ?? open(sim, request);
  processes.current.request = request;
  readKey(upstream, record, processes.report);
  const node = pickNode(upstream, record, now_ms, processes.report);
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
