import { HASH_RANGE, hashBytes } from "../hash";

/**
 * When each node is checked: at the same place of every interval, by the hash of its name. So a thousand nodes are
 * spread over the interval, a node keeps its place whatever happens to the others, and a collector that takes over
 * goes on where the last one was. Nothing is drawn: the same names and the same clock give the same checks.
 *
 * Memory and time: one entry a node, sorted once; looking costs as much as there are nodes due, not as there are nodes.
 */
export interface Round {
  interval_ms: number;
  /** Indexes of nodes, by ascending place. */
  order: number[];
  /** Where in the interval each of `order` is due, ms: 0 .. interval_ms − 1. */
  places_ms: number[];
  /** Next of `order`, and the begin of the interval it is due in. */
  next: number;
  begin_ms: number;
}

/** Seeds of the hashes for the two kinds of places. Any constants do. */
const PLACE_SEED = 11;
const TURN_SEED = 13;

function divisor(a: number, b: number): number {
  let x = a;
  let y = b;
  while (y > 0) {
    const rest = x % y;
    x = y;
    y = rest;
  }
  return x;
}

/** Where in its interval the first kind of check of a node is due, ms. */
export function placeMs(name: string, interval_ms: number): number {
  return Math.floor((hashBytes(name, PLACE_SEED) / HASH_RANGE) * interval_ms);
}

/**
 * Where in its interval the second kind of check of the same node is due, ms: never nearer to the first than half of the
 * intervals' greatest common divisor, half a second with 3 s and 10 s. For the two places differ by that much, and any
 * number of intervals of either kind adds multiples of the divisor only.
 */
export function offsetPlaceMs(name: string, first_interval_ms: number, interval_ms: number): number {
  const step_ms = divisor(first_interval_ms, interval_ms);
  const turn = hashBytes(name, TURN_SEED) % Math.max(1, Math.floor(interval_ms / step_ms));
  const place_ms = placeMs(name, first_interval_ms) + Math.floor(step_ms / 2) + turn * step_ms;
  return place_ms % interval_ms;
}

/**
 * @param places_ms of the nodes, by index
 * @param now_ms monotonic ms; nothing is due before
 */
export function newRound(places_ms: readonly number[], interval_ms: number, now_ms: number): Round {
  const order: number[] = [];
  for (let i = 0; i < places_ms.length; i++) order[i] = i;
  order.sort((a, b) => (places_ms[a] === places_ms[b] ? a - b : places_ms[a] - places_ms[b]));
  const sorted: number[] = [];
  for (let i = 0; i < order.length; i++) sorted[i] = places_ms[order[i]];
  const begin_ms = Math.floor(now_ms / interval_ms) * interval_ms;
  const round: Round = { interval_ms, order, places_ms: sorted, next: 0, begin_ms };
  while (round.next < order.length && begin_ms + sorted[round.next] <= now_ms) round.next++;
  wrap(round);
  return round;
}

function wrap(round: Round): void {
  if (round.next < round.order.length) return;
  round.next = 0;
  round.begin_ms += round.interval_ms;
}

/** When the next check is due, monotonic ms; Infinity without nodes. */
export function nextDueMs(round: Round): number {
  return round.order.length === 0 ? Infinity : round.begin_ms + round.places_ms[round.next];
}

/**
 * Takes one node that is due. Called until it returns undefined. After a long pause each node is
 * due once or twice, not once for every interval missed; who is in line already is not put there again (prober.ts).
 * @returns its index; undefined when no (more) node is due
 */
export function takeDue(round: Round, now_ms: number): number | undefined {
  const due_ms = nextDueMs(round);
  if (due_ms > now_ms) return undefined;
  const missed = Math.floor((now_ms - due_ms) / round.interval_ms) - 1;
  if (missed > 0) round.begin_ms += missed * round.interval_ms;
  const node = round.order[round.next];
  round.next++;
  wrap(round);
  return node;
}
