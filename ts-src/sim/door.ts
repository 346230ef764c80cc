/**
 * The access phase of a worker (phases/access.ts) and its sleep (phases/wait.ts): admission in virtual time. The
 * decision, the queue and the hand-over are the library's; only the thread that sleeps is an event here.
 */
import type { RejectReason } from "../resty/ax/core/reject";
import { decide } from "../resty/ax/dataplane/admission";
import { noteAdmitted, noteRefused } from "../resty/ax/dataplane/door";
import { endWait, leave, poll, POLL_MS, type Waiter, WaiterState } from "../resty/ax/dataplane/line";
import type { RequestRecord } from "../resty/ax/dataplane/requests";
import { pushEvent } from "./events";
import { Kind, type SimRequest, type Simulation, type Timer } from "./simulation";
import { clockMs, type Processes, type Worker } from "./worker";

/** What becomes of a request at the door. */
export interface DoorOutcome {
  /** It goes on to the balancer phase. */
  pass(this: void, request: SimRequest): void;
  /** It ends with a 503. */
  refuse(this: void, request: SimRequest, reason: RejectReason): void;
}

/** The sleep of one request; stands where the gateway has a semaphore. Written by the sleeper and by who wakes it. */
interface Nap {
  request: SimRequest;
  outcome: DoorOutcome;
  /** Counts its awakenings: a timer set before the last one is void. */
  turn: number;
}

function awake(sim: Simulation, worker: Worker, waiter: Waiter, nap: Nap): void {
  const hall = worker.hall;
  nap.turn++;
  if (hall.poller === waiter && waiter.state === WaiterState.Waiting) poll(hall, clockMs(sim));
  sleep(sim, worker, waiter, nap);
}

/** Has the sleeper wake up at a time, unless something else wakes it before. */
function wakeAt(sim: Simulation, worker: Worker, waiter: Waiter, at_ms: number): void {
  const nap = waiter.semaphore as Nap;
  const turn = nap.turn;
  const timer: Timer = {
    fire(now) {
      if (waiter.semaphore === nap && nap.turn === turn) awake(now, worker, waiter, nap);
    },
  };
  pushEvent(sim.heap, at_ms, Kind.Timer, timer);
}

/** The hall's `wake`: in nginx the woken thread runs in the same turn of the event loop. */
export function wakeNow(sim: Simulation, worker: Worker, waiter: Waiter): void {
  if (waiter.semaphore !== undefined) wakeAt(sim, worker, waiter, sim.now_ms);
}

/** The wait is over: the request has a place, or has waited long enough. */
function rise(sim: Simulation, worker: Worker, waiter: Waiter, nap: Nap): void {
  const request = nap.request;
  const record = request.record as RequestRecord;
  const now_ms = clockMs(sim);
  const waited_ms = now_ms - waiter.enqueued_ms;
  const granted = waiter.state === WaiterState.Granted;
  leave(worker.hall, waiter, now_ms);
  waiter.semaphore = undefined;
  endWait(worker.hall, waiter, true);
  if (granted) {
    noteAdmitted(worker.upstream.door, record.priority, waited_ms);
    nap.outcome.pass(request);
  } else {
    noteRefused(worker.upstream.door, "queue_timeout");
    nap.outcome.refuse(request, "queue_timeout");
  }
}

/** Until it is handed a place, or its time is over; one of the sleepers polls. */
function sleep(sim: Simulation, worker: Worker, waiter: Waiter, nap: Nap): void {
  const now_ms = clockMs(sim);
  const left_ms = waiter.deadline_ms - now_ms;
  if (waiter.state === WaiterState.Waiting && left_ms <= 0) leave(worker.hall, waiter, now_ms);
  if (waiter.state !== WaiterState.Waiting) {
    rise(sim, worker, waiter, nap);
    return;
  }
  worker.hall.poller ??= waiter;
  const polls = worker.hall.poller === waiter;
  wakeAt(sim, worker, waiter, sim.now_ms + (polls ? Math.min(POLL_MS, left_ms) : left_ms));
}

/**
 * What access() does with a request whose class and key have been read: `outcome` hears of it now, or when its wait
 * is over.
 */
export function enter(processes: Processes, sim: Simulation, request: SimRequest, outcome: DoorOutcome): void {
  const worker = request.worker as Worker;
  const record = request.record as RequestRecord;
  processes.current.request = request;
  const { hall, rate_limit, upstream } = worker;
  const reason = decide(hall, rate_limit, upstream, record, clockMs(sim), Infinity);
  const waiter = record.waiter;
  if (reason !== undefined) {
    outcome.refuse(request, reason);
  } else if (waiter === undefined) {
    outcome.pass(request);
  } else {
    const nap: Nap = { request, outcome, turn: 0 };
    waiter.semaphore = nap;
    sleep(sim, worker, waiter, nap);
  }
}
