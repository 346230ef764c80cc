import type { OperatorWill } from "../operator";
import type { NodeReport } from "../node_report";
import type { ProbeView } from "../probe/view";
import type { NodeState } from "./states";

/** What threw a node out: it decides what lets it back in. */
export type EjectedBy = "connections" | "errors" | "silence" | "probe" | "trial" | "host";

/**
 * A node's state and what goes with it. Written by the machine (machine.ts) alone, which makes a new record for every
 * change; published with the node's detail, from where the next collector takes it over.
 */
export interface Health {
  state: NodeState;
  /** What brought it into the state, in words, with the numbers. */
  cause: string;
  since_ms: number;
  /** When the state ends by itself. */
  until_ms?: number;
  /** Ramping: until then the share stays as low as it began. */
  flat_until_ms?: number;
  /** Ejections in a row. */
  ejections: number;
  /** What threw it out last. */
  by?: EjectedBy;
  /** Since when the error rate has been over the limit. */
  error_since_ms?: number;
  /** Since when it has not answered what it has. */
  silent_since_ms?: number;
  /** From when the next long window without trouble counts. */
  clean_since_ms: number;
  /** Why it would be out if the pool could spare it. */
  kept?: string;
  /** Probing, or suspect: number of the trial that is granted now, and when it was. */
  trial: number;
  trial_at_ms: number;
  /** The trial is a live request. With probes a half-open node gets one only after a probe has passed. */
  live?: boolean;
  /** Online because the operator said so. */
  forced?: boolean;
}

/** What the collector saw of the node up to this look. */
export interface Seen {
  /** Connection failures in a row, over all workers. */
  streak: number;
  /** Failures of any kind (5xx too) in a row, over all workers. */
  failures: number;
  /** Times it was picked since it left the rotation or came back; Infinity when it never did. */
  picks_since_return: number;
  /** Whether any answer, even a 5xx, arrived since then. */
  answered_since_return: boolean;
  /** Answers and failures since then. */
  ok_since_return: number;
  failed_since_return: number;
  /** Judged and failed tries in the short window. */
  judged: number;
  failed: number;
  /** The short window has not yet been collecting for its own length. */
  young: boolean;
  /** Requests in flight, over all workers. */
  in_flight: number;
  /** How long the oldest of them has waited, and the node has answered nothing at any worker, ms; 0 = none waits. */
  oldest_ms: number;
  /** Times it was picked since it became silent. */
  silent_picks: number;
  /** When its trial was first seen to be taken, monotonic ms; 0 = it is not. */
  trial_taken_ms: number;
  /** From what age on that is unusual in this upstream, ms. */
  silence_limit_ms: number;
  /** The node asked for less load (429, 503 with Retry-After): until then, monotonic ms; 0 = it did not. */
  busy_until_ms: number;
  /** Refused ÷ answered tries of the short window, 0..1. */
  busy_share: number;
  /** P99 ÷ the typical node's; 0 = not known. */
  p99_ratio: number;
  /** The pool can spare one more node. */
  may_eject: boolean;
  /** Too few nodes are good: those that are out are used as well. */
  panic: boolean;
  /** Another node of its host is out, and the configuration says that takes this one along: why. */
  host_out?: string;
  /** What probes found; undefined without probes. */
  probe?: ProbeView;
  /** What the node said of its load with its last answer; undefined: nothing, or nobody listens. */
  report?: NodeReport;
  /** That report is fresh, and one of a row over the limit. */
  overloaded: boolean;
  /** What the operator wants, if anything, in force. */
  will?: OperatorWill;
}

export const IN_ROTATION = "in rotation";

/** @returns the state of a node first seen now, when the gateway starts */
export function newHealth(now_ms: number): Health {
  return {
    state: "online",
    cause: IN_ROTATION,
    since_ms: now_ms,
    ejections: 0,
    clean_since_ms: now_ms,
    trial: 0,
    trial_at_ms: 0,
  };
}

/** @returns what is seen of a node that nothing has happened to */
export function newSeen(): Seen {
  return {
    streak: 0,
    failures: 0,
    picks_since_return: Infinity,
    answered_since_return: true,
    ok_since_return: 0,
    failed_since_return: 0,
    judged: 0,
    failed: 0,
    young: true,
    in_flight: 0,
    oldest_ms: 0,
    silent_picks: 0,
    trial_taken_ms: 0,
    silence_limit_ms: Infinity,
    busy_until_ms: 0,
    busy_share: 0,
    p99_ratio: 0,
    may_eject: true,
    panic: false,
    overloaded: false,
  };
}

/** The evidence so far is spent: the node left the rotation, got a new trial or came back. */
export function forgetSeen(seen: Seen): void {
  seen.streak = 0;
  seen.failures = 0;
  seen.picks_since_return = 0;
  seen.answered_since_return = false;
  seen.ok_since_return = 0;
  seen.failed_since_return = 0;
}

/** @returns a record in another state; what belongs to the old state is gone */
export function enter(health: Health, state: NodeState, cause: string, now_ms: number, until_ms?: number): Health {
  return {
    state,
    cause,
    since_ms: now_ms,
    until_ms,
    ejections: health.ejections,
    by: health.by,
    error_since_ms: health.error_since_ms,
    silent_since_ms: health.silent_since_ms,
    clean_since_ms: health.clean_since_ms,
    trial: health.trial,
    trial_at_ms: health.trial_at_ms,
  };
}

/** @returns a record of its own with the same content */
export function copy(health: Health): Health {
  const next = enter(health, health.state, health.cause, health.since_ms, health.until_ms);
  next.flat_until_ms = health.flat_until_ms;
  next.kept = health.kept;
  next.live = health.live;
  next.forced = health.forced;
  return next;
}
