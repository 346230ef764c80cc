/** From an upstream's configuration, and from what the collector finds, to the limits that are kept. */
import { DEFAULT_CAPACITY } from "../core/model";
import type { Store } from "../core/store";
import { asNumber, asRecord } from "../core/values";
import { limitsKey } from "../core/wire";
import { newSlots, setLimit } from "./slots";
import type { Upstream } from "./upstream";

/** A limit that nobody chose fails no request: a node over it is left out while another one has room, no more. */
const NO_REFUSAL = 1e6;

/**
 * Begins to keep the upstream's limits, exactly over all workers of the store.
 *
 * @param holder this worker's number (core/slots.ts); 0 = none yet
 */
export function attachSlots(upstream: Upstream, store: Store, holder: number): void {
  const config = upstream.config;
  const limit: number[] = [];
  const overflow_ratio: number[] = [];
  const unchosen: boolean[] = [];
  for (let node = 0; node < upstream.pool.n; node++) {
    const own = config.nodes[node].max_conns;
    const chosen = config.max_concurrency_per_node;
    limit[node] = own > 0 ? own : (chosen ?? DEFAULT_CAPACITY);
    unchosen[node] = own === 0 && chosen === undefined;
    overflow_ratio[node] = own > 0 ? 0 : unchosen[node] ? NO_REFUSAL : config.max_overflow_ratio;
  }
  upstream.slots = newSlots(store, holder, config.name, upstream.pool.ids, {
    limit,
    overflow_ratio,
    unchosen,
    // Without a queue nobody can wait, all would use it, and what is measured is more than the limit.
    moved_overflow_ratio: config.queue === undefined ? 0 : config.max_overflow_ratio,
    whole: config.max_concurrency ?? 0,
    cool_down_ms: config.overload_cool_down_s * 1000,
  });
}

/**
 * Takes over adaptive limits that have moved. Flush; one read of the store for each upstream that has them.
 *
 * @param decode from JSON; undefined when the text is not JSON
 */
export function readLimits(store: Store, upstreams: Upstream[], decode: (this: void, text: string) => unknown): void {
  for (const upstream of upstreams) {
    if (upstream.config.adaptive_limit !== undefined) readOwn(store, upstream, decode);
  }
}

function readOwn(store: Store, upstream: Upstream, decode: (this: void, text: string) => unknown): void {
  const slots = upstream.slots;
  const text = store.get(limitsKey(upstream.config.name));
  if (slots === undefined || typeof text !== "string" || text === upstream.limits_text) return;
  upstream.limits_text = text;
  const limits = asRecord(decode(text));
  for (let node = 0; node < upstream.pool.n; node++) {
    const limit = asNumber(asRecord(limits?.[upstream.pool.ids[node]])?.["limit"]);
    if (limit !== undefined && limit >= 1) setLimit(slots, node, Math.floor(limit));
  }
}
