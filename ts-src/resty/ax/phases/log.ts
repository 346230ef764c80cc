import { formatAddress } from "../core/config/address";
import { matchTries, splitTries } from "../core/tries";
import { Outcome } from "../dataplane/counters";
import { publish } from "../dataplane/exchange";
import { endTry, noteAnswered } from "../dataplane/in_flight";
import { accountTry } from "../dataplane/outcome";
import { closeRequest, type RequestRecord } from "../dataplane/requests";
import { discard, familyOver } from "../dataplane/sweep";
import { process } from "../dataplane/worker";
import { nowMs } from "../nginx/clock";
import { isSubrequest, requestBorn, requestFamily, requestKey, variable } from "../nginx/request";
import { fault } from "./faults";

/**
 * @param status of the try, from $upstream_status
 * @param header_time of the try, from $upstream_header_time: "-" when no answer came
 */
function outcomeOf(status: string | undefined, header_time: string | undefined): Outcome {
  if (status === undefined || status === "-" || status === "") return Outcome.Aborted;
  const code = tonumber(status);
  if (header_time === undefined || tonumber(header_time) === undefined) {
    // 499 without an answer: the client went away first.
    return code === 499 ? Outcome.Aborted : Outcome.Fail;
  }
  return code !== undefined && code >= 500 ? Outcome.Error : Outcome.Ok;
}

function latencyOf(header_time: string | undefined): number {
  const seconds = header_time === undefined ? undefined : tonumber(header_time);
  return seconds === undefined ? 0 : seconds * 1000;
}

function accountOne(
  record: RequestRecord,
  k: number,
  outcome: Outcome,
  header_time: string | undefined,
  waited_ms: number,
  now_ms: number,
): void {
  const upstream = record.try_upstream[k];
  const node = record.try_node[k];
  upstream.log_seen = true;
  if (outcome === Outcome.Aborted) {
    accountTry(upstream, node, outcome, waited_ms, !record.try_learnt[k], now_ms);
    return;
  }
  // The start of earlier tries is not kept.
  if (outcome !== Outcome.Fail && k === record.tries - 1) noteAnswered(upstream, node, record.start_ms);
  accountTry(upstream, node, outcome, latencyOf(header_time), !record.try_learnt[k], now_ms);
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
    const outcome = at < 0 ? Outcome.Aborted : outcomeOf(statuses[at], times[at]);
    // Of earlier tries the start is not kept: nothing but the last one can have been waited for.
    const waited_ms = k === record.tries - 1 ? now_ms - record.start_ms : 0;
    accountOne(record, k, outcome, at < 0 ? undefined : times[at], waited_ms, now_ms);
  }
}

function account(): void {
  const worker = process.worker;
  if (worker === undefined) return;
  if (worker.requests.subrequest_count > 0 && !isSubrequest()) familyOver(worker.requests, requestFamily());
  const record = worker.requests.by_key[requestKey()];
  if (record === undefined) return;
  const now_ms = nowMs();
  if (record.born !== requestBorn()) {
    discard(worker.requests, record);
    return;
  }
  endTry(record);
  const status = variable("upstream_status");
  if (status !== undefined) {
    const header_time = variable("upstream_header_time");
    if (record.tries === 1 && status.length <= 3) {
      accountOne(record, 0, outcomeOf(status, header_time), header_time, now_ms - record.start_ms, now_ms);
    } else if (record.tries > 0) {
      accountSeveral(record, status, header_time ?? "", now_ms);
    }
  }
  closeRequest(worker.requests, record);
  if (worker.exiting) publish(worker.exchange, worker.upstreams, true, now_ms);
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
