import { decide } from "../dataplane/admission";
import { noteAdmitted, noteRefused } from "../dataplane/door";
import { endTry } from "../dataplane/in_flight";
import { abandon, roomCame } from "../dataplane/line";
import { readClass } from "../dataplane/request_class";
import { readKey } from "../dataplane/request_key";
import { beginVisit, closeRequest, openRequest, type RequestRecord } from "../dataplane/requests";
import { discard } from "../dataplane/sweep";
import type { Upstream } from "../dataplane/upstream";
import { process, type Worker } from "../dataplane/worker";
import { endAborted, refuse } from "../nginx/admission";
import { nowMs } from "../nginx/clock";
import { isSubrequest, requestBorn, requestKey } from "../nginx/request";
import type { RejectReason } from "../core/reject";
import { fault, report, unknownUpstream } from "./faults";
import { patienceMs } from "./patience";
import { lastAnswered } from "./visit";
import { awaitTurn, Turn } from "./wait";

/**
 * The request that is being decided on came to access() before, and has its token from there. Written by `enter`, read
 * right after it: nothing yields in between.
 */
let has_token = false;

/** The request was in an upstream before: what it held there is free now, and for others too. */
function comeBack(worker: Worker, record: RequestRecord, now_ms: number): void {
  const before = record.upstream;
  endTry(record);
  beginVisit(record, record.tries > 0 && lastAnswered());
  if (before !== undefined) roomCame(worker.hall, before, now_ms);
}

/** Everything before the decision. No loops. */
function enter(name: string): RequestRecord | undefined {
  const worker = process.worker;
  if (worker === undefined) return undefined;
  const now_ms = nowMs();
  const upstream = worker.by_name[name];
  if (upstream === undefined) {
    unknownUpstream("access", name, now_ms);
    return undefined;
  }
  const key = requestKey();
  let record = worker.requests.by_key[key];
  if (record !== undefined && record.born !== requestBorn()) {
    if (record.waiter !== undefined) abandon(worker.hall, record.waiter, now_ms);
    discard(worker.requests, record, now_ms);
    record = undefined;
  }
  if (record === undefined) {
    record = openRequest(worker.requests, key, requestBorn(), isSubrequest());
    has_token = false;
  } else if (record.reserved && record.upstream === upstream) {
    // A second call of access() in the same request.
    return undefined;
  } else {
    comeBack(worker, record, now_ms);
    has_token = true;
  }
  record.upstream = upstream;
  readClass(upstream, record, report);
  readKey(upstream, record, report);
  return record;
}

/** The decision, which has the loops. @returns why the request is refused, or undefined */
function decideHere(record: RequestRecord): RejectReason | undefined {
  const worker = process.worker as Worker;
  const upstream = record.upstream as Upstream;
  const rate_limit = has_token ? undefined : worker.rate_limit;
  const reason = decide(worker.hall, rate_limit, upstream, record, nowMs(), patienceMs(upstream));
  // It has no token: if error_page sends it to access() again, it is asked for one there.
  if (!has_token && (reason === "qps" || reason === "panic")) closeRequest(worker.requests, record);
  return reason;
}

function enterGuarded(name: string): RequestRecord | undefined {
  const [ok, record] = pcall(enter, name);
  if (ok) return record;
  fault("access_phase", tostring(record), nowMs());
  return undefined;
}

function decideGuarded(record: RequestRecord): RejectReason | undefined {
  const [ok, reason] = pcall(decideHere, record);
  if (ok) return reason;
  fault("access_phase", tostring(reason), nowMs());
  return undefined;
}

/** @returns how the waiting ended; a fault of ours ends it as if there were room */
function awaitGuarded(record: RequestRecord): Turn {
  const [ok, turn] = pcall(awaitTurn, record);
  if (ok) return turn;
  fault("access_phase", tostring(turn), nowMs());
  return Turn.Come;
}

/** The slow path: the request waits, then goes on, is refused, or has lost its client. */
function wait(record: RequestRecord): void {
  const upstream = record.upstream as Upstream;
  const begun_ms = nowMs();
  const turn = awaitGuarded(record);
  if (turn === Turn.Come) {
    noteAdmitted(upstream.door, record.priority, nowMs() - begun_ms);
  } else if (turn === Turn.TimedOut) {
    noteRefused(upstream.door, "queue_timeout");
    refuse("queue_timeout", upstream.config.retry_after_s);
  } else {
    endAborted();
  }
}

/**
 * Admits a request to an upstream before nginx connects to it: keeps a place for it on the node that the balancer
 * then uses. When every node is full it lets the request wait, where the upstream has a `queue`, by class
 * and age; else, or when the queue is full or its time is over, it answers 503 with `X-AX-Reject` and `Retry-After`.
 * On any fault of ours the request goes on.
 *
 * access_by_lua phase; optional. Not in subrequests, which have no access phase.
 * @param name an upstream of the configuration
 */
export function access(name: string): void {
  const record = enterGuarded(name);
  if (record === undefined) return;
  const config = (record.upstream as Upstream).config;
  const reason = decideGuarded(record);
  if (reason !== undefined) refuse(reason, config.retry_after_s);
  else if (record.waiter !== undefined) wait(record);
}
