/**
 * Counts of one worker that only ever grow, per upstream: what was refused, and why. Each flush adds what is new to
 * the shared `count:<upstream>:<name>`, which the status shows; nothing is lost but what a killed worker had not sent.
 */
import type { Store } from "./store";

export const TALLIES = [
  /** Every node was at its limit: refused in the balancer. */
  "rejected_overloaded",
  /** Tries not made because the retry budget was spent; because the request was too old. */
  "retries_denied",
  "retries_late",
  "retries",
] as const;

export type Tally = (typeof TALLIES)[number];

export interface Tallies {
  total: Record<Tally, number>;
  sent: Record<Tally, number>;
}

function zeros(): Record<Tally, number> {
  return { rejected_overloaded: 0, retries_denied: 0, retries_late: 0, retries: 0 };
}

export function newTallies(): Tallies {
  return { total: zeros(), sent: zeros() };
}

export function tallyKey(upstream: string, name: Tally): string {
  return `count:${upstream}:${name}`;
}

/** Flush. */
export function sendTallies(tallies: Tallies, store: Store, upstream: string): void {
  for (let k = 0; k < TALLIES.length; k++) {
    const name = TALLIES[k];
    const unsent = tallies.total[name] - tallies.sent[name];
    if (unsent > 0 && store.incr(tallyKey(upstream, name), unsent) !== undefined) tallies.sent[name] += unsent;
  }
}
