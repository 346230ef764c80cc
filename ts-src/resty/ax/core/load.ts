import type { Pool } from "./pool";

/** Stands in for weight 0: such a node is loaded more than any other as soon as it has a request. */
const MIN_WEIGHT = 1e-9;

/**
 * Requests in flight over all workers (own exact, others' as of the last flush) per weight.
 * @param weights pool.weight or pool.static_weight
 */
export function loadOf(pool: Pool, weights: number[], node: number): number {
  const weight = weights[node];
  return (pool.in_flight[node] + pool.others_in_flight[node]) / (weight > MIN_WEIGHT ? weight : MIN_WEIGHT);
}

/**
 * The candidate with the least load; among equals, the first from `offset` on.
 * @param weights pool.weight or pool.static_weight
 * @param offset 0 .. count-1
 */
export function leastLoaded(
  pool: Pool,
  weights: number[],
  candidates: number[],
  count: number,
  offset: number,
): number {
  let node = candidates[offset];
  let least = loadOf(pool, weights, node);
  for (let k = 1; k < count; k++) {
    const other = candidates[offset + k < count ? offset + k : offset + k - count];
    const load = loadOf(pool, weights, other);
    if (load < least) {
      least = load;
      node = other;
    }
  }
  return node;
}
