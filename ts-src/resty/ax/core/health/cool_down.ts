import { draw, newRandom } from "../random";

/** Most of the jitter, as a share of the cool-down: unnoticed by people, enough to spread returns. */
const JITTER = 0.05;

/** `fail_timeout=0` is nginx's "within the same second". */
const SHORTEST_COOL_DOWN_S = 1;

/**
 * How long a node stays out: doubled with every ejection in a row, up to a longest one, as in Envoy's outlier detection
 * (which adds the base time instead of doubling).
 *
 * @param base_s the first cool-down, seconds
 * @param ejections in a row, this one included
 * @param max_s longest cool-down; one that begins longer stays as it is
 * @param id the node: gives the jitter, so that equal histories replay equally
 * @returns ms
 */
export function coolDownMs(base_s: number, ejections: number, max_s: number, id: string): number {
  const first_s = Math.max(SHORTEST_COOL_DOWN_S, base_s);
  const grown_s = Math.min(first_s * 2 ** Math.min(ejections - 1, 32), Math.max(max_s, first_s));
  let seed = ejections;
  for (let i = 0; i < id.length; i++) seed = (seed * 31 + id.charCodeAt(i)) % 2147483647;
  return Math.floor(grown_s * 1000 * (1 + JITTER * draw(newRandom(seed))));
}
