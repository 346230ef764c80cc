import type { Pool } from "./pool";

/** Stands in for weight 0: such a node is loaded more than any other, yet stays comparable. */
const MIN_WEIGHT = 1e-9;

/** Requests in flight over all workers per weight, were the node to get one more. */
export function loadOf(pool: Pool, weights: number[], node: number): number {
  const weight = weights[node];
  return (pool.in_flight[node] + pool.others_in_flight[node] + 1) / (weight > MIN_WEIGHT ? weight : MIN_WEIGHT);
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
  let least = Infinity;
  let at = offset;
  for (let k = 0; k < count; k++) {
    const other = candidates[at];
    const load = loadOf(pool, weights, other);
    if (load < least) {
      least = load;
      node = other;
    }
    at++;
    if (at >= count) at = 0;
  }
  return node;
}
