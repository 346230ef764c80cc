/** What the status shows of limits: core/slots.ts has the counts in use, core/tallies.ts what was refused. */
import type { NodeConfig, UpstreamConfig } from "../core/model";
import { totalKey } from "../core/slots";
import type { Store } from "../core/store";
import { tallyKey } from "../core/tallies";
import { asCount, asNumber, asRecord } from "../core/values";
import { limitsKey } from "../core/wire";

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

/** How an adaptive limit stands: core/gradient.ts. */
export interface AdaptiveStatus {
  /** The limit when nothing is being measured. */
  operating?: number;
  /** Median latency with next to nothing to do, and of the last sample; absent = not known yet. */
  base_ms?: number;
  latency_ms?: number;
  /** The limit is low so that `base_ms` can be measured. */
  measuring: boolean;
}

/** What a node may have in flight. */
export interface NodeLimitStatus {
  limit?: number;
  adaptive?: AdaptiveStatus;
}

/** @returns the adaptive limits as the collector has published them, by node id; undefined = there are none */
export function readAdaptive(
  store: Store,
  decode: (this: void, text: string) => unknown,
  config: UpstreamConfig,
): Record<string, unknown> | undefined {
  const text = config.adaptive_limit === undefined ? undefined : store.get(limitsKey(config.name));
  return typeof text === "string" ? asRecord(decode(text)) : undefined;
}

/** @param published by `readAdaptive` */
export function nodeLimit(
  config: UpstreamConfig,
  given: NodeConfig,
  published: Record<string, unknown> | undefined,
): NodeLimitStatus {
  const own = given.max_conns > 0 ? given.max_conns : config.max_concurrency_per_node;
  const found = asRecord(published?.[given.id]);
  if (found === undefined) return { limit: own };
  const limit = asNumber(found["limit"]);
  return {
    limit,
    adaptive: {
      operating: asNumber(found["operating"]),
      base_ms: asNumber(found["base_ms"]),
      latency_ms: asNumber(found["latency_ms"]),
      measuring: found["measuring"] === true,
    },
  };
}
