/** What the status shows of limits: core/slots.ts has the counts in use, core/tallies.ts what was refused. */
import type { UpstreamConfig } from "../core/model";
import { totalKey } from "../core/slots";
import type { Store } from "../core/store";
import { tallyKey } from "../core/tallies";
import { asCount } from "../core/values";

/** What bounds an upstream, and what was refused for it; counts are totals. */
export interface LimitStatus {
  /** Absent: nobody set one, see limits.md. */
  max_concurrency_per_node?: number;
  max_overflow_ratio: number;
  max_concurrency?: number;
  /** Slots leased in the upstream by all workers: its requests in flight, and some idle ones. */
  leased: number;
  /** Every node full, in the balancer; what access() refuses is under `admission`. */
  rejected: { overloaded: number };
  retries: { made: number; denied: number; late: number };
}

function countOf(store: Store, key: string): number {
  return asCount(store.get(key));
}

/** @returns what the status shows of an upstream's limits */
export function limitStatus(store: Store, config: UpstreamConfig): LimitStatus {
  const name = config.name;
  let leased = 0;
  for (const node of config.nodes) leased += countOf(store, totalKey(name, node.id));
  return {
    max_concurrency_per_node: config.max_concurrency_per_node,
    max_overflow_ratio: config.max_overflow_ratio,
    max_concurrency: config.max_concurrency,
    leased,
    rejected: {
      overloaded: countOf(store, tallyKey(name, "rejected_overloaded")),
    },
    retries: {
      made: countOf(store, tallyKey(name, "retries")),
      denied: countOf(store, tallyKey(name, "retries_denied")),
      late: countOf(store, tallyKey(name, "retries_late")),
    },
  };
}
