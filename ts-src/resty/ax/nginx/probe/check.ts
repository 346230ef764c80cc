import { type BodyMatch, type HttpPlan, judgeAnswer } from "../../core/probe/http";
import type { ProbeHttpConfig } from "../../core/probe/config";
import type { CheckJob } from "../../core/probe/job";
import { feed, finish, newAnswerReader } from "../../core/probe/response";
import type { CheckResult } from "../../core/probe/results";
import { nowMs } from "../clock";
import { decode } from "../json";
import { regexMatches } from "../regex";
import { pause } from "../timer";

/**
 * Makes one check over a connection of its own: never one from a pool, never given to one. A pool's name of our own, for
 * `connect` would else take an idle connection that other Lua code has put aside for the same address.
 */
const POOL = { pool: "ax-probe" };

/** Read at a time. */
const READ_BYTES = 4096;

/** So many reads in a row that had something at once, then the worker's requests have their turn: below 1 ms. */
const READS_AT_A_TIME = 8;

/** Past its end by so much, it was this process that stood still (stopped, a long block): the node is not to blame. */
const STALLED_MS = 300;

/** One check under way. */
interface Attempt {
  socket: NgxTcpSocket;
  started_ms: number;
  ends_ms: number;
  /** What this process is short of. */
  own_fault?: string;
}

/** Gives the next step what is left of the time. @returns whether anything is */
function arm(attempt: Attempt): boolean {
  const left_ms = attempt.ends_ms - nowMs();
  if (left_ms < 1) return false;
  attempt.socket.settimeouts(left_ms, left_ms, left_ms);
  return true;
}

function tookMs(attempt: Attempt): number {
  return Math.max(0, nowMs() - attempt.started_ms);
}

/** @param doing what did not succeed: "connect" */
function failed(attempt: Attempt, doing: string, err: string | undefined): CheckResult {
  const took_ms = tookMs(attempt);
  const is_late = err === "timeout" || took_ms >= attempt.ends_ms - attempt.started_ms;
  const what = is_late ? "no answer" : (err ?? "failed");
  return { ok: false, why: `${doing}: ${what} after ${took_ms} ms`, took_ms };
}

/**
 * What the network and the node answer to an attempt to connect, in cosockets' words. Anything else is this process's own
 * want: of connections (nginx then tells whatever error was the last one), of open files, of ports.
 */
const NODE_ERRORS: Record<string, true | undefined> = {
  timeout: true,
  "connection refused": true,
  "connection reset by peer": true,
  "connection timed out": true,
  "no route to host": true,
  "host is unreachable": true,
  "host is down": true,
  "network is unreachable": true,
  // Unix sockets: not there, or not ours to use.
  "no such file or directory": true,
  "permission denied": true,
};

/** @returns why not; undefined when connected; `attempt.own_fault` tells when it is not the node's doing */
function connect(attempt: Attempt, job: CheckJob): CheckResult | undefined {
  const socket = attempt.socket;
  arm(attempt);
  const [ok, err] = job.port > 0 ? socket.connect(job.host, job.port, POOL) : socket.connect(job.host, POOL);
  if (ok !== undefined) return undefined;
  if (NODE_ERRORS[err ?? ""] === undefined) attempt.own_fault = err ?? "failed";
  return failed(attempt, "connect", err);
}

/** @returns why not; undefined when the request is out */
function ask(attempt: Attempt, http: ProbeHttpConfig, plan: HttpPlan): CheckResult | undefined {
  const socket = attempt.socket;
  if (http.tls) {
    if (!arm(attempt)) return failed(attempt, "TLS handshake", "timeout");
    // false: no session is kept, or taken up.
    const [ok, err] = socket.sslhandshake(false, plan.server_name, http.tls_verify);
    if (ok === undefined || ok === false) return failed(attempt, "TLS handshake", err);
  }
  if (!arm(attempt)) return failed(attempt, "sending", "timeout");
  const [sent, err] = socket.send(plan.request);
  return sent === undefined ? failed(attempt, "sending", err) : undefined;
}

/** Reads what comes in any pieces, until the answer is whole or the time is up. */
function readAnswer(attempt: Attempt, job: CheckJob, http: ProbeHttpConfig, plan: HttpPlan): CheckResult {
  const reader = newAnswerReader(plan.head_only, http.max_body_bytes);
  let reads = 0;
  while (!reader.done) {
    // A read that finds data returns at once: a node that sends without end would have the worker for itself.
    reads++;
    if (reads % READS_AT_A_TIME === 0) pause();
    if (!arm(attempt)) return failed(attempt, partText(reader.status), "timeout");
    const [data, err] = attempt.socket.receiveany(READ_BYTES);
    if (data !== undefined) feed(reader, data);
    else if (err === "closed") finish(reader);
    else return failed(attempt, partText(reader.status), err);
  }
  let body: BodyMatch = "unasked";
  if (reader.problem === undefined && http.body_regex !== undefined) {
    body = regexMatches(reader.body, http.body_regex) ? "matched" : "unmatched";
  }
  return judgeAnswer(reader, body, tookMs(attempt), plan, job.config, (text) => decode(text)[0]);
}

function partText(status: number): string {
  return status > 0 ? `HTTP ${status}, then its rest` : "HTTP";
}

function attemptOne(attempt: Attempt, job: CheckJob): CheckResult {
  const unconnected = connect(attempt, job);
  if (unconnected !== undefined) return unconnected;
  const { http, plan } = job;
  if (http === undefined || plan === undefined) {
    const took_ms = tookMs(attempt);
    return { ok: true, why: `TCP connection in ${took_ms} ms`, took_ms };
  }
  const unsent = ask(attempt, http, plan);
  // The answer may have come all the same, before the connection was closed: nobody waits for it.
  return unsent ?? readAnswer(attempt, job, http, plan);
}

/**
 * Makes a check, and closes its connection. Timer phase, in a light thread; yields.
 * @returns undefined when nothing can be told: this process stood still, or could not make a connection; then also why
 */
export function makeCheck(job: CheckJob): LuaMultiReturn<[CheckResult | undefined, string | undefined]> {
  const [socket, none] = ngx.socket.tcp();
  if (socket === undefined) return $multi(undefined, none);
  const started_ms = nowMs();
  const attempt: Attempt = { socket, started_ms, ends_ms: started_ms + job.timeout_ms };
  const result = attemptOne(attempt, job);
  socket.close();
  if (attempt.own_fault !== undefined) return $multi(undefined, attempt.own_fault);
  return $multi(nowMs() > attempt.ends_ms + STALLED_MS ? undefined : result, undefined);
}
