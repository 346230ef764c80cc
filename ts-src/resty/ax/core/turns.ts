import type { Pool } from "./pool";
import { draw, type Random } from "./random";

/**
 * Turns by weight: every node has a time at which it is due, the one due first is next, and is due again 1 ÷ weight
 * later. Earliest deadline first, as in Envoy (source/common/upstream/edf_scheduler.h); fair within one turn of a node
 * at every moment. nginx's smooth weighted round robin gives the same kind of order, but raises every node at every pick.
 *
 * Deviations from Envoy: where nodes begin. Nodes of equal weight begin evenly spaced, so that light nodes do not
 * come one after the other with nothing but the heavy one between; and each worker begins elsewhere. A node that was
 * passed over does not catch up.
 *
 * Written by a strategy's picks and `prepare`; lives as long as its state.
 */
export interface Turns {
  /** By node, in turns of a node of weight 1; Infinity = never. */
  due: number[];
  /** By node: 1 ÷ weight. */
  step: number[];
  /** By node, 0..1: where in its step it begins. */
  phase: number[];
  /** When the latest turn was due. */
  now: number;
}

/** Times are brought back to 0 from here on, so that they keep their precision. */
const NOW_MAX = 1e6;

/** Fractional part of the golden ratio: its multiples are spread evenly, however many there are (Knuth, TAOCP 3, 6.4). */
const GOLDEN = 0.6180339887498949;

/** @returns the fractional part, 0 .. 1 */
function fraction(value: number): number {
  return value - Math.floor(value);
}

/** Phases: even within each group of equal weights, the groups shifted against each other. */
function phasesOf(pool: Pool): number[] {
  const weights = pool.static_weight;
  const order: number[] = [];
  const phase: number[] = [];
  for (let node = 0; node < pool.n; node++) {
    order[node] = node;
    phase[node] = 0;
  }
  order.sort((a, b) => (weights[a] === weights[b] ? a - b : weights[a] - weights[b]));
  let from = 0;
  let group = 0;
  while (from < pool.n) {
    let to = from;
    while (to < pool.n && weights[order[to]] === weights[order[from]]) to++;
    for (let k = from; k < to; k++) phase[order[k]] = (k - from + fraction(group * GOLDEN)) / (to - from);
    from = to;
    group++;
  }
  return phase;
}

/**
 * Turns of all nodes of a pool, none of them taken. `updateTurns` comes before the first one.
 * @param random decides where this worker begins
 */
export function newTurns(pool: Pool, random: Random): Turns {
  const turns: Turns = { due: [], step: [], phase: phasesOf(pool), now: 0 };
  let longest = 0;
  for (let node = 0; node < pool.n; node++) {
    if (pool.static_weight[node] > 0) longest = Math.max(longest, 1 / pool.static_weight[node]);
  }
  const start = draw(random) * longest;
  for (let node = 0; node < pool.n; node++) {
    turns.phase[node] = fraction(turns.phase[node] - start * pool.static_weight[node]);
    turns.step[node] = Infinity;
    turns.due[node] = Infinity;
  }
  return turns;
}

/** How far from its turn a node is, in steps of its own. */
function phaseOf(turns: Turns, node: number): number {
  const step = turns.step[node];
  return step < Infinity ? Math.max(0, Math.min(1, (turns.due[node] - turns.now) / step)) : turns.phase[node];
}

/**
 * Takes over the weights of the pool's candidates: a node whose weight has changed keeps its place between two turns.
 * Without a weight above 0 all are equal. Flush.
 */
export function updateTurns(turns: Turns, pool: Pool): void {
  const { due, step } = turns;
  if (turns.now > NOW_MAX) {
    for (let node = 0; node < pool.n; node++) due[node] -= turns.now;
    turns.now = 0;
  }
  let total = 0;
  for (let k = 0; k < pool.candidate_count; k++) total += pool.static_weight[pool.candidates[k]];
  for (let k = 0; k < pool.candidate_count; k++) {
    const node = pool.candidates[k];
    const weight = total > 0 ? pool.static_weight[node] : 1;
    const now_step = weight > 0 ? 1 / weight : Infinity;
    if (now_step !== step[node]) {
      due[node] = now_step < Infinity ? turns.now + phaseOf(turns, node) * now_step : Infinity;
      step[node] = now_step;
    }
  }
}

/** The node has its turn: it is due again one step later, or one step from now when it was passed over. */
export function takeTurn(turns: Turns, node: number): void {
  const due = turns.due[node];
  if (due === Infinity) return;
  const now = Math.max(due, turns.now);
  turns.now = now;
  turns.due[node] = now + turns.step[node];
}
