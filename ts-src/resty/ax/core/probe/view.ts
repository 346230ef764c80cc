import type { ProbeRecord } from "./record";
import type { ProbeSummary } from "./tally";

/**
 * What active probes have found out about a node: the one thing that the rest of the collector sees of them. Written by
 * collector/prober.ts, read by whoever moves node states, shown by the status API. Lives as long as the collector that
 * probes; the next one takes it over from the published detail.
 */

/** "unknown" until the first check has ended, and again after a pause so long that the last result says nothing. */
export type ProbeVerdict = "unknown" | "pass" | "fail";

/** A check asked for out of turn: see ProbeSource.askTrial. "none" until one was asked for. */
export type TrialVerdict = "none" | "running" | "pass" | "fail";

/** Written by the prober alone, in place: take over what has to last. Times are monotonic ms. */
export interface ProbeView {
  /** By the rows below: `fails` failed checks in a row make "fail", `passes` passed ones in a row make "pass" again. */
  verdict: ProbeVerdict;
  /** The last check's outcome in words, with its numbers: "HTTP 503 in 12 ms (200 is expected)". "" before the first. */
  why: string;
  /** Checks in a row that failed: of the kind (TCP, HTTP) that has failed more often; 0 after a pass of it. */
  failed_in_row: number;
  /** Checks in a row that passed: of the kind that has passed less often; 0 after a failure of it. */
  passed_in_row: number;
  /** The last `slow_checks` passed HTTP checks or more all took over `slow_ratio` × normal: the node is degraded. */
  slow: boolean;
  /** Passed HTTP checks in a row that took so long. */
  slow_in_row: number;
  /** What the last HTTP check that was answered took (the last TCP check, without HTTP), ms. */
  took_ms?: number;
  /** What such a check takes normally, ms. Absent until enough have passed. */
  normal_ms?: number;
  /** How full the node's thread pool is by its own account, 0..1 (over 1 when it says so); absent when it does not say. */
  watermark?: number;
  /** Requests that wait inside the node, by its own account; absent when it does not say. */
  queue_depth?: number;
  /** Other load figures of the node's own (ORCA `endpoint-load-metrics`), by name; absent when it sends none. */
  signals?: Record<string, number>;
  /** When watermark, queue_depth and signals came, monotonic ms; 0 = never. */
  signals_at_ms: number;
  /** When the last check ended, monotonic ms; 0 = never. */
  at_ms: number;
  /** The last trial asked for. */
  trial: TrialVerdict;
}

/** What the collector has of the probes. Every call returns at once: checks run on their own. Timer phase. */
export interface ProbeSource {
  /** @returns what is known of the node; undefined when its upstream has no probes (or it has no such node) */
  view(this: void, upstream: string, node: string): ProbeView | undefined;
  /**
   * Has a node checked now, out of turn (HTTP where configured, else TCP), for a node that is half-open or pending.
   * Sets `view.trial` to "running", and to "pass" or "fail" when the check has ended, within the probe's time-out and
   * perhaps a short wait for its turn; when the gateway could not make it, with the node's next check. Asked again while one is running, it changes nothing. The result also counts as
   * a check like any other.
   * @returns false when the node is not probed: the trial has to be a live request
   */
  askTrial(this: void, upstream: string, node: string): boolean;
  /**
   * Leaves a node alone (in maintenance), or checks it again: then nothing is known of it, for what was found before is of
   * another time. A check under way still counts; with it, nothing is decided.
   */
  rest(this: void, upstream: string, node: string, rests: boolean): void;
  /** @returns what is to be published of the node; undefined before its first check */
  record(this: void, upstream: string, node: string): ProbeRecord | undefined;
  /** @returns how the upstream's checks went lately; undefined when it has no probes */
  summary(this: void, upstream: string, now_ms: number): ProbeSummary | undefined;
  /** @returns whether a check of this upstream has ended since the last call: it has to be judged anew */
  takeNews(this: void, upstream: string): boolean;
}

/** @returns the view of a node that has never been checked */
export function newProbeView(): ProbeView {
  return {
    verdict: "unknown",
    why: "",
    failed_in_row: 0,
    passed_in_row: 0,
    slow: false,
    slow_in_row: 0,
    signals_at_ms: 0,
    at_ms: 0,
    trial: "none",
  };
}
