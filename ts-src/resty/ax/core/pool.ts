/**
 * One worker's live view of one upstream: parallel arrays over node numbers 0..n-1, so that a pick
 * is plain arithmetic over memory. Written by this worker only (balancer and log phases, flush);
 * read by strategies; lives as long as the worker. Node numbers mean nothing outside the worker:
 * whatever leaves it is keyed by `ids`.
 */
export interface Pool {
  name: string;
  n: number;
  /** Node identity. */
  ids: string[];
  /** Effective weight from the last snapshot (base weight before the first). */
  weight: number[];
  /** 1 ÷ prior, the geometric mean of `weight` and `static_weight`: what the live cost is weighed by (core/cost.ts). */
  inverse_prior: number[];
  /** Base weight × ramp: for strategies that do not adapt. */
  static_weight: number[];
  /** Requests in flight from this worker: exact. */
  in_flight: number[];
  /** Requests in flight from the other workers: as of the last flush (≤ ~100 ms old). */
  others_in_flight: number[];
  /**
   * Of `in_flight`, requests known to be long rather than stuck (streams, downloads, upgraded connections): they
   * have lasted long, and the node has answered later ones.
   */
  long_in_flight: number[];
  /** Start of this worker's oldest request in flight at the node, long ones left out, monotonic ms; 0 = none. */
  oldest_start_ms: number[];
  /** Start of the latest request that the node has answered, monotonic ms; 0 = none. */
  answered_start_ms: number[];
  /** Moving mean of the latency of successes, ms; never 0 (cold nodes have the pool's median). */
  latency_ms: number[];
  /** Like latency_ms, but up at once with every slower answer, down over ~10 s (core/peak.ts). */
  peak_latency_ms: number[];
  /** P99 of successes as the collector judges it, ms; -1 = too few samples. */
  p99_ms: number[];
  /** Successes that latency_ms rests on: this worker's recent ones, or the gateway's; 0 = latency_ms is a guess. */
  samples: number[];
  /** Moving share of successes among this worker's and the pool's tries, 0..1. */
  success: number[];
  /** When this worker last picked the node, monotonic ms. */
  last_pick_ms: number[];
  /** When this worker last learnt a latency or an outcome of the node, monotonic ms. */
  last_sample_ms: number[];
  /** Most requests in flight over all workers; 0 = no limit. */
  max_conns: number[];
  /** Requests in flight that the node is taken to bear: max_conns, else max_concurrency_per_node. */
  capacity: number[];
  /**
   * What nodes report of themselves, by signal and node, shares 0..1; -1 = no fresh report of this node. Signals that nobody
   * reports are absent.
   */
  reports: Record<string, number[] | undefined>;
  /** What a request to the node costs its owner, relative to the others (node option `cost`). */
  price: number[];
  /** Derived from the above (core/cost.ts, `weigh`): the cost of a node that has answered just now. */
  resting_cost: number[];
  /** Derived: since when the node has said nothing that it owes, monotonic ms, and what a millisecond more of it counts. */
  silent_since_ms: number[];
  silence_per_ms: number[];
  /** Derived: this worker's requests in flight and one, for the node's prior relative to the highest; rounded. */
  load_rank: number[];
  /** Of all candidates. */
  highest_prior: number;
  /** Usable nodes of the tier in use: candidates[0 .. candidate_count-1], ascending node numbers. */
  candidates: number[];
  candidate_count: number;
  /** By node: equal to `version` while the node is one of the candidates. */
  candidate_of: number[];
  /** Moves whenever candidates or weights change: a strategy's derived tables are stale then. */
  version: number;
}
