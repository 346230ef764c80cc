/** The door of one upstream in one worker: what access() needs to know, and what it has done. */
import { addCount, bucketOf, newCounts } from "../core/histogram";
import { type ClassReader, LOWEST_PRIORITY } from "../core/priority";
import type { RejectReason } from "../core/reject";
import type { Line } from "./line";

/** Waits are told over this time, and at least half of it. */
const WAITS_HALF_MS = 30000;

/** Waits of admitted requests in one half of that time, by priority − 1. */
export interface Waits {
  hist: number[][];
  admitted: number[];
}

/**
 * Set up by init_worker; counts are written by the access and balancer phases, and sent to the shared store by the
 * flush (door_exchange.ts). Lives as long as the worker.
 */
export interface Door {
  /** What reads the classes of requests; undefined: none are configured. */
  class_reader: ClassReader | undefined;
  /** Where requests wait; undefined without the option `queue`. */
  line: Line | undefined;
  /** nginx variable with the ms that the client will still wait; undefined = none is configured. */
  deadline_variable: string | undefined;
  /** Requests with a class that does not exist; with one higher than they may give themselves. */
  unknown_classes: number;
  capped_classes: number;
  refused: Record<string, number | undefined>;
  /** What the shared store knows of these counts, by its keys. */
  sent: Record<string, number | undefined>;
  waits: Waits;
  waits_before: Waits;
  turned_at_ms: number;
}

function newWaits(): Waits {
  const waits: Waits = { hist: [], admitted: [] };
  for (let k = 0; k < LOWEST_PRIORITY; k++) {
    waits.hist[k] = newCounts();
    waits.admitted[k] = 0;
  }
  return waits;
}

export function newDoor(): Door {
  return {
    class_reader: undefined,
    line: undefined,
    deadline_variable: undefined,
    unknown_classes: 0,
    capped_classes: 0,
    refused: {},
    sent: {},
    waits: newWaits(),
    waits_before: newWaits(),
    turned_at_ms: 0,
  };
}

/** Begins a new half minute when it is time. Flush. */
export function turnWaits(door: Door, now_ms: number): void {
  const age_ms = now_ms - door.turned_at_ms;
  if (age_ms < WAITS_HALF_MS) return;
  door.waits_before = age_ms < 2 * WAITS_HALF_MS ? door.waits : newWaits();
  door.waits = newWaits();
  door.turned_at_ms = now_ms;
}

/** The request goes on, after so long in the queue. */
export function noteAdmitted(door: Door, priority: number, waited_ms: number): void {
  door.waits.admitted[priority - 1]++;
  addCount(door.waits.hist[priority - 1], bucketOf(waited_ms), 1);
}

export function noteRefused(door: Door, reason: RejectReason): void {
  door.refused[reason] = (door.refused[reason] ?? 0) + 1;
}
