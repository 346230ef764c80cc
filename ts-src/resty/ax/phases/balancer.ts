import { countPick, Outcome } from "../dataplane/counters";
import { beginReserved, beginTry, endTry } from "../dataplane/in_flight";
import { abandon } from "../dataplane/line";
import { accountTry, learnBusy, learnFailure } from "../dataplane/outcome";
import { ALL_FULL, pickNode } from "../dataplane/pick";
import { readKey } from "../dataplane/request_key";
import { readClass } from "../dataplane/request_class";
import { addTry, beginVisit, joinFamily, openRequest, type RequestRecord, TRIES_MAX } from "../dataplane/requests";
import { hasPlace } from "../dataplane/reserve";
import { mayTry } from "../dataplane/retries";
import { discard } from "../dataplane/sweep";
import type { Upstream } from "../dataplane/upstream";
import { process } from "../dataplane/worker";
import { allowTries, endTries, keepConnection, lastFailure, setPeer } from "../nginx/balancer";
import { nowMs } from "../nginx/clock";
import { isSubrequest, requestBorn, requestFamily, requestKey } from "../nginx/request";
import { fault, report, unknownUpstream } from "./faults";
import { lastAnswered } from "./visit";

const TOO_MANY_REQUESTS = 429;

/** The request was here before: a retry, or an internal redirect. */
function resume(record: RequestRecord, now_ms: number): void {
  const last = record.tries - 1;
  const node = record.node;
  const upstream = record.upstream;
  endTry(record);
  const [why, status] = lastFailure();
  if (why === undefined) {
    beginVisit(record, record.tries > 0 && lastAnswered());
    return;
  }
  if (why === "failed" && node >= 0 && upstream !== undefined && last >= 0) {
    if (status === TOO_MANY_REQUESTS) learnBusy(upstream, node, now_ms);
    // 502 and 504 stand for "refused" and "timed out", but may have been answered: the log phase,
    // which can tell, puts the streak right.
    else learnFailure(upstream, node, status !== 502 && status !== 504, now_ms);
    record.try_learnt[last] = true;
  }
}

/** The first part: everything before the choice. No loops. */
function enter(name: string): RequestRecord | undefined {
  const worker = process.worker;
  const now_ms = nowMs();
  if (worker === undefined) {
    fault("not_initialised", "init_worker() has not run in this worker: add it to init_worker_by_lua_block", now_ms);
    return undefined;
  }
  const upstream = worker.by_name[name];
  if (upstream === undefined) {
    unknownUpstream("balancer", name, now_ms);
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
    if (record.subrequest) joinFamily(worker.requests, record, requestFamily());
  } else if (!record.reserved) {
    resume(record, now_ms);
  } else if (!hasPlace(upstream, record)) {
    endTry(record);
  }
  record.upstream = upstream;
  record.start_ms = now_ms;
  readClass(upstream, record, report);
  const max_tries = upstream.config.max_tries;
  if (max_tries > 0 && record.tries - record.earlier_tries >= max_tries) {
    endTries();
    return undefined;
  }
  if (!mayTry(upstream, record, now_ms)) {
    endTries();
    return undefined;
  }
  readKey(upstream, record, report);
  return record;
}

/** The second part: the choice, which has the loops. */
function choose(record: RequestRecord): number {
  return pickNode(record.upstream as Upstream, record, record.start_ms, report);
}

/** The record has no room for one more try: the last one is accounted now, the log phase will not see it. */
function accountOverwritten(record: RequestRecord, now_ms: number): void {
  const last = TRIES_MAX - 1;
  const outcome = record.try_learnt[last] ? Outcome.Fail : Outcome.Aborted;
  accountTry(record.try_upstream[last], record.try_node[last], outcome, 0, false, now_ms);
}

/** The third part: everything after the choice. No loops. */
function send(record: RequestRecord, node: number): void {
  const upstream = record.upstream as Upstream;
  const now_ms = record.start_ms;
  const config = upstream.config;
  const given = config.nodes[node];
  const [ok, err] = setPeer(given.host, given.port);
  if (ok !== true) {
    fault("set_peer", `upstream "${config.name}", node "${given.id}": ${err ?? "refused"}`, now_ms);
    return;
  }
  const keepalive = config.lua_keepalive;
  if (keepalive !== undefined) keepConnection(keepalive.idle_timeout_s, keepalive.max_requests);
  // Nodes of our own list: nginx counts tries by the block's server lines, which may be fewer.
  if (record.tries === record.earlier_tries && config.nodes_from === "nodes" && upstream.usable > 1)
    allowTries(upstream.usable - 1);
  if (record.tries === TRIES_MAX) accountOverwritten(record, now_ms);
  addTry(record, upstream, node);
  if (record.reserved) beginReserved(upstream, record, now_ms);
  else beginTry(upstream, record, node, now_ms);
  countPick(upstream.counters, node);
  upstream.picks_total++;
}

/**
 * Every node has all the requests it may have. Returning without a peer would send the request to one of them all the
 * same, by nginx's round robin; so it gets the 502 that nginx itself gives when every server is at its max_conns.
 */
function refuse(record: RequestRecord): void {
  (record.upstream as Upstream).tallies.total.rejected_overloaded++;
  endTries();
}

function enterGuarded(name: string): RequestRecord | undefined {
  const [ok, record] = pcall(enter, name);
  if (ok) return record;
  fault("balancer", tostring(record), nowMs());
  return undefined;
}

function chooseGuarded(record: RequestRecord): number {
  const [ok, node] = pcall(choose, record);
  if (ok) return node;
  fault("balancer", tostring(node), nowMs());
  return -1;
}

function sendGuarded(record: RequestRecord, node: number): void {
  const [ok, err] = pcall(send, record, node);
  if (!ok) fault("balancer", tostring(err), nowMs());
}

/**
 * Sends the current try of a request to the node that should serve it now. On any fault of ours it
 * returns without choosing, and nginx's own round robin over the block's `server` lines serves.
 *
 * In three parts because of how LuaJIT compiles (lj_record.c): a trace that starts at a function's
 * entry cannot contain a loop, and a trace can return through a pcall only if it made it. So the
 * parts around the loop are functions of their own, each with its pcall inside; in one piece, all of
 * it would run in the interpreter, where every FFI call allocates.
 *
 * balancer_by_lua phase.
 * @param name an upstream of the configuration
 */
export function balancer(name: string): void {
  const record = enterGuarded(name);
  if (record === undefined) return;
  const node = record.reserved ? record.node : chooseGuarded(record);
  if (node >= 0) sendGuarded(record, node);
  else if (node === ALL_FULL) refuse(record);
}
