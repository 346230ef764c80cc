/**
 * How much of an upstream's traffic stays in the gateway's own zone. After Envoy's priority levels
 * (docs: "Priority levels", "Overprovisioning factor"), where a level takes all traffic as long as
 * health × 1.4 covers it and hands the rest down; here the own zone is the first level, all other
 * zones the second, and "health" is the weight in rotation: ejections, ramps and low scores count.
 *
 * Deviation: besides health, load. A zone with too few nodes for its traffic is healthy and full.
 */

/** Envoy's default: up to 29 % of the zone's weight may be lost before traffic leaves the zone. */
const OVERPROVISIONING = 1.4;

/**
 * Requests in flight ÷ capacity from which traffic leaves the zone, linearly until none is left at 1:
 * early enough that the other zones take over before the first request has to wait.
 */
const SPILL_FROM = 0.7;

/** What one zone, or all others together, can take. */
export interface ZoneLoad {
  /** Sum of the effective weights of the usable nodes, each at most its base weight. */
  weight: number;
  /** Sum of the base weights of all nodes that the operator did not take down. */
  base_weight: number;
  /** Requests in flight, and how many the usable nodes bear. */
  in_flight: number;
  capacity: number;
}

/** @returns the share of its traffic that a zone can take, 0..1 */
export function roomOf(zone: ZoneLoad): number {
  if (zone.base_weight <= 0 || zone.capacity <= 0) return 0;
  const health = Math.min(1, (OVERPROVISIONING * zone.weight) / zone.base_weight);
  const used = zone.in_flight / zone.capacity;
  if (used <= SPILL_FROM) return health;
  return health * Math.max(0, (1 - used) / (1 - SPILL_FROM));
}

/**
 * What does not fit goes to the other zones, as far as they have room themselves; what fits nowhere stays.
 * @returns the share of requests to serve in the own zone, 0..1
 */
export function localShare(local: ZoneLoad, others: ZoneLoad): number {
  const room = roomOf(local);
  return room + (1 - room) * (1 - roomOf(others));
}
