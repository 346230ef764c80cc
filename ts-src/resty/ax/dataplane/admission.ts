/**
 * The decision at the door: a place on a node at once, a wait, or a refusal. Everything here is this worker's; what
 * the other workers' queues hold is at most a poll old (line.ts).
 */
import { AGE_MS, keyOf } from "../core/queue";
import type { RateLimit } from "../core/rate_limit";
import type { RejectReason } from "../core/reject";
import { noteAdmitted, noteRefused } from "./door";
import { refusesNew } from "./drain";
import { type Hall, isBehind, join, type Line } from "./line";
import type { RequestRecord } from "./requests";
import { allowRequest } from "./rate";
import { reserve } from "./reserve";
import { failsClosed } from "./candidates";
import type { Upstream } from "./upstream";

/** What became of a request at the door. */
export const enum Verdict {
  Pass = 0,
  /** It has a waiter, and waits its turn. */
  Wait = 1,
  Refuse = 2,
}

/** With nobody before it in any worker, a request may take a place at once. */
function enterAtOnce(hall: Hall, line: Line | undefined, record: RequestRecord, now_ms: number): boolean {
  const upstream = record.upstream as Upstream;
  if (line !== undefined && isBehind(hall, line, keyOf(record.priority, now_ms, AGE_MS), now_ms)) return false;
  return reserve(upstream, record, now_ms, hall.report);
}

/**
 * Decides on a request whose class and key have been read. Access phase.
 * @param upstream whose limits apply; the record has no try in flight
 * @param patience_ms longest wait that the client has in mind; Infinity = none said
 * @returns the verdict, and why when it is a refusal
 */
export function admit(
  hall: Hall,
  upstream: Upstream,
  record: RequestRecord,
  now_ms: number,
  patience_ms: number,
): LuaMultiReturn<[Verdict, RejectReason | undefined]> {
  record.upstream = upstream;
  record.start_ms = now_ms;
  // Nothing to choose from: nginx's own server lines have their say.
  if (upstream.pool.candidate_count === 0) return $multi(Verdict.Pass, undefined);
  const line = upstream.door.line;
  // A redirect goes on with what was allowed before it.
  if (line !== undefined && record.tries === 0 && refusesNew(line, record.priority))
    return $multi(Verdict.Refuse, "draining");
  if (enterAtOnce(hall, line, record, now_ms)) {
    noteAdmitted(upstream.door, record.priority, 0);
    return $multi(Verdict.Pass, undefined);
  }
  if (line === undefined) return $multi(Verdict.Refuse, "overloaded");
  const refused = join(hall, line, record, now_ms, patience_ms);
  if (refused !== undefined) return $multi(Verdict.Refuse, refused);
  return $multi(Verdict.Wait, undefined);
}

/**
 * The whole decision on a request whose class and key have been read, with every reason to refuse it; counts refusals.
 * Access phase.
 * @param rate_limit the gateway's; undefined = none, or the request has its token already
 * @param patience_ms longest wait that the client has in mind; Infinity = none said
 * @returns why the request is refused, or undefined: it has a waiter then, or goes on
 */
export function decide(
  hall: Hall,
  rate_limit: RateLimit | undefined,
  upstream: Upstream,
  record: RequestRecord,
  now_ms: number,
  patience_ms: number,
): RejectReason | undefined {
  // While a trial is open requests go on: without one of them no node would ever come back.
  if (failsClosed(upstream) && upstream.trials.open_count === 0) {
    noteRefused(upstream.door, "panic");
    return "panic";
  }
  // A redirect goes on with what was allowed before it.
  if (record.tries === 0 && !allowRequest(rate_limit, now_ms)) {
    noteRefused(upstream.door, "qps");
    return "qps";
  }
  const [verdict, reason] = admit(hall, upstream, record, now_ms, patience_ms);
  if (verdict === Verdict.Refuse && reason !== undefined) noteRefused(upstream.door, reason);
  return reason;
}
