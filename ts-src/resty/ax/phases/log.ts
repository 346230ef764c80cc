import { formatAddress } from "../core/config/address";
import { shortTimeOf, statusOf } from "../core/log_values";
import { weigh } from "../core/cost";
import { matchTries, splitTries } from "../core/tries";
import { noteRetryAfter, Outcome } from "../dataplane/counters";
import { endTry, endTryUnweighed, noteAnswered } from "../dataplane/in_flight";
import { abandon, roomCame } from "../dataplane/line";
import { accountTry } from "../dataplane/outcome";
import { closeRequest, type RequestRecord } from "../dataplane/requests";
import { discard, familyOver } from "../dataplane/sweep";
import { takeReport } from "../dataplane/reports";
import { process, type Worker } from "../dataplane/worker";
import { nowMs } from "../nginx/clock";
import { isSubrequest, requestBorn, requestFamily, requestKey, retryAfterMs, variable } from "../nginx/request";
import { fault } from "./faults";
import { publishWhileLeaving } from "./leaving";

/** nginx's status for a client that left before the answer. */
const CLIENT_LEFT = 499;

const TOO_MANY_REQUESTS = 429;
const UNAVAILABLE = 503;

/** Resolution of nginx's clock, and so of $upstream_header_time. */
const CLOCK_TICK_MS = 1;

/** Time to first byte, ms; undefined when no answer came ("-"). */
function latencyOf(header_time: string | undefined): number | undefined {
  if (header_time === undefined) return undefined;
  const short_ms = shortTimeOf(header_time);
  if (short_ms !== undefined) return short_ms;
  const seconds = tonumber(header_time);
  return seconds === undefined ? undefined : seconds * 1000;
}

/** Refused for load? Retry-After is known of the last answer only: what nginx keeps of earlier ones is their status. */
function isBusy(code: number | undefined, is_last: boolean): boolean {
  return code === TOO_MANY_REQUESTS || (code === UNAVAILABLE && is_last && retryAfterMs() > 0);
}

/**
 * @param status of the try, from $upstream_status
 * @param latency_ms from $upstream_header_time; undefined: no answer came
 */
function outcomeOf(status: string | undefined, latency_ms: number | undefined, is_last: boolean): Outcome {
  if (status === undefined || status === "-" || status === "") return Outcome.Aborted;
  const code = statusOf(status);
  // 499 without an answer: the client went away first.
  if (latency_ms === undefined) return code === CLIENT_LEFT ? Outcome.Aborted : Outcome.Fail;
  if (code === undefined || (code < 500 && code !== TOO_MANY_REQUESTS)) return Outcome.Ok;
  return isBusy(code, is_last) ? Outcome.Busy : Outcome.Error;
}

function accountOne(
  record: RequestRecord,
  k: number,
  outcome: Outcome,
  latency_ms: number,
  waited_ms: number,
  now_ms: number,
): void {
  const upstream = record.try_upstream[k];
  const node = record.try_node[k];
  upstream.logs.seen = true;
  if (outcome === Outcome.Aborted) {
    accountTry(upstream, node, outcome, waited_ms, !record.try_learnt[k], now_ms);
    return;
  }
  if (outcome === Outcome.Busy && k === record.tries - 1) noteRetryAfter(upstream.counters, node, retryAfterMs());
  // The start of earlier tries is not kept.
  if (outcome !== Outcome.Fail && k === record.tries - 1) noteAnswered(upstream, node, record.start_ms);
  accountTry(upstream, node, outcome, latency_ms, !record.try_learnt[k], now_ms);
}

/** The slow way: more than one try, ours or not. */
function accountSeveral(record: RequestRecord, status: string, header_time: string, now_ms: number): void {
  const statuses = splitTries(status);
  const times = splitTries(header_time);
  const addresses = splitTries(variable("upstream_addr") ?? "");
  const ours: string[] = [];
  for (let k = 0; k < record.tries; k++) {
    const given = record.try_upstream[k].config.nodes[record.try_node[k]];
    ours[k] = formatAddress(given);
  }
  const matched = matchTries(ours, addresses);
  for (let k = 0; k < record.tries; k++) {
    const at = matched[k];
    const latency_ms = at < 0 ? undefined : latencyOf(times[at]);
    const outcome = at < 0 ? Outcome.Aborted : outcomeOf(statuses[at], latency_ms, at === statuses.length - 1);
    // Of earlier tries the start is not kept: nothing but the last one can have been waited for.
    const waited_ms = k === record.tries - 1 ? now_ms - record.start_ms : 0;
    accountOne(record, k, outcome, latency_ms ?? 0, waited_ms, now_ms);
  }
}

/**
 * The usual way: one try. A status below 499 is the node's own answer: where nginx gives up without one, it writes 499
 * (the client left), 502 or 504. The time to its first byte lies between 0 and the time since it was sent, both by
 * nginx's own clock of whole milliseconds, so when that is no more than one tick there is nothing left to read.
 */
function accountSingle(record: RequestRecord, status: string, now_ms: number): void {
  const waited_ms = now_ms - record.start_ms;
  const code = statusOf(status);
  if (code !== undefined && code < CLIENT_LEFT && waited_ms <= CLOCK_TICK_MS) {
    const outcome = code === TOO_MANY_REQUESTS ? Outcome.Busy : Outcome.Ok;
    accountOne(record, 0, outcome, waited_ms, waited_ms, now_ms);
    return;
  }
  const latency_ms = latencyOf(variable("upstream_header_time"));
  accountOne(record, 0, outcomeOf(status, latency_ms, true), latency_ms ?? 0, waited_ms, now_ms);
}

/**
 * What the answer says of its node's load. nginx keeps the headers of the last answer only: of a request with several
 * tries they may be another node's.
 */
function readReport(record: RequestRecord, now_ms: number): void {
  const { reports, counters } = record.try_upstream[0];
  const node = record.try_node[0];
  if (reports === undefined || now_ms < reports.due_ms[node]) return;
  takeReport(reports, counters, node, variable("upstream_http_endpoint_load_metrics"), now_ms);
}

/** The end of a request where there is more to do. Apart: it costs nothing where there is not. */
function windUp(worker: Worker, record: RequestRecord, status: string | undefined, now_ms: number): void {
  if (record.tries === 1 && status !== undefined && status.length <= 3) readReport(record, now_ms);
  const upstream = record.upstream;
  closeRequest(worker.requests, record);
  if (upstream !== undefined) roomCame(worker.hall, upstream, now_ms);
  if (worker.exiting) publishWhileLeaving(worker, now_ms);
}

function account(): void {
  const worker = process.worker;
  if (worker === undefined) return;
  worker.log_ran = true;
  if (worker.requests.subrequest_count > 0 && !isSubrequest()) familyOver(worker.requests, requestFamily());
  const record = worker.requests.by_key[requestKey()];
  if (record === undefined) return;
  const now_ms = nowMs();
  if (record.waiter !== undefined) abandon(worker.hall, record.waiter, now_ms);
  if (record.born !== requestBorn()) {
    discard(worker.requests, record, now_ms);
    return;
  }
  // Accounting weighs the node, in the usual case.
  const weighs = record.tries === 1 && !record.reserved;
  if (weighs) endTryUnweighed(record);
  else endTry(record);
  const status = variable("upstream_status");
  if (status === undefined) {
    if (weighs) weigh(record.try_upstream[0].pool, record.try_node[0]);
  } else {
    if (record.tries === 1 && status.length <= 3) accountSingle(record, status, now_ms);
    else if (record.tries > 0) accountSeveral(record, status, variable("upstream_header_time") ?? "", now_ms);
  }
  if (worker.log_does_more) {
    windUp(worker, record, status, now_ms);
    return;
  }
  const upstream = record.upstream;
  closeRequest(worker.requests, record);
  if (upstream !== undefined) roomCame(worker.hall, upstream, now_ms);
}

/**
 * Accounts every try of the request to the node that made it, and ends its count in flight. Costs
 * next to nothing for requests that did not pass balancer().
 *
 * log_by_lua phase; at http level, so that every server and location has it.
 */
export function log(): void {
  const [ok, err] = pcall(account);
  if (!ok) fault("log_phase", tostring(err), nowMs());
}
