/**
 * What any policy can be measured against, on the same arrivals and the same work:
 *
 * - shared_queue: one queue over all slots; a free slot takes the next request, the fastest slot first. No policy
 *   that must choose on arrival can do better, but for luck: it is what perfect knowledge of the future would give
 *   when all slots are alike. With slots of different speeds it is a heuristic (Lin & Kumar 1984: the best policy
 *   sometimes lets a slow slot idle), so a policy may come out slightly under it.
 * - oracle: chooses on arrival, knows every node's present speed, cache, and load over all gateways.
 * - random_split: every node alike, knows nothing.
 */
import { draw, newRandom } from "../resty/ax/core/random";
import { holds } from "./cache";
import { append, pushEvent } from "./events";
import type { Bound } from "./job";
import { send, startWaiting } from "./node";
import { Ending, Kind, type Router, type SimNode, type SimRequest, type Simulation, type Try } from "./simulation";
import { advance } from "./timeline";

/** A paused node is this slow to the oracle: comparable, and last. */
const PAUSED_SPEED = 1e-3;

function serves(sim: Simulation, node: SimNode): boolean {
  if (node.spec.joins_at_s * 1000 > sim.now_ms) return false;
  advance(node.timeline, sim.now_ms);
  return node.timeline.mode[node.timeline.at] === "up";
}

function pickRandom(sim: Simulation, u: number): number {
  let joined = 0;
  for (const node of sim.nodes) if (node.spec.joins_at_s * 1000 <= sim.now_ms) joined++;
  let left = Math.floor(u * joined);
  for (const node of sim.nodes) {
    if (node.spec.joins_at_s * 1000 <= sim.now_ms) {
      if (left === 0) return node.number;
      left--;
    }
  }
  return 0;
}

/** Work of a request at a node relative to that of a hit. */
function relativeWork(sim: Simulation, node: SimNode, request: SimRequest): number {
  const spec = sim.job.cache;
  if (node.cache === undefined || spec === undefined || holds(node.cache, request.key)) return 1;
  return spec.miss_factor;
}

/** Least expected time to the end of mean work: the wait for a slot and the work, at the node's present speed. */
function pickOracle(sim: Simulation, u: number, request: SimRequest): number {
  const n = sim.nodes.length;
  let best = -1;
  let least = Infinity;
  const offset = Math.floor(u * n);
  for (let k = 0; k < n; k++) {
    const node = sim.nodes[(offset + k) % n];
    if (serves(sim, node)) {
      const { timeline, spec } = node;
      const speed = Math.max(PAUSED_SPEED, timeline.speed[timeline.at]) * (1 - timeline.error_share[timeline.at]);
      const waiting = Math.max(0, node.in_flight - spec.slots + 1) / spec.slots;
      const time = (relativeWork(sim, node, request) + waiting) / speed;
      if (time < least) {
        least = time;
        best = node.number;
      }
    }
  }
  return best;
}

/** The fastest node with a free slot, or -1. */
function pickFree(sim: Simulation): number {
  let best = -1;
  let fastest = 0;
  for (const node of sim.nodes) {
    if (node.busy < node.spec.slots && serves(sim, node)) {
      const speed = node.timeline.speed[node.timeline.at];
      if (speed > fastest) {
        fastest = speed;
        best = node.number;
      }
    }
  }
  return best;
}

/** A try has reached the shared queue. @returns false when it has to wait in it */
export function leaveQueue(sim: Simulation, attempt: Try): boolean {
  const node = pickFree(sim);
  if (node < 0) {
    append(sim.nodes[0].waiting, 0, attempt);
    return false;
  }
  attempt.node = node;
  sim.nodes[node].in_flight++;
  return true;
}

/** All nodes take from one queue; a node that comes back to life looks into it at once. */
function shareQueue(sim: Simulation): void {
  sim.shared_queue = true;
  for (const node of sim.nodes) {
    node.waiting = sim.nodes[0].waiting;
    const wake = {
      fire: (now: Simulation): void => {
        startWaiting(now, node);
      },
    };
    for (const from_ms of node.timeline.from_ms) {
      if (from_ms > 0) pushEvent(sim.heap, from_ms, Kind.Timer, wake);
    }
    if (node.spec.joins_at_s > 0) pushEvent(sim.heap, node.spec.joins_at_s * 1000, Kind.Timer, wake);
  }
}

/** @param seed of the random split, and of ties */
export function newBound(sim: Simulation, bound: Bound, seed: number): Router {
  const random = newRandom(seed);
  if (bound === "shared_queue") shareQueue(sim);
  function forward(now: Simulation, request: SimRequest): void {
    let node = -1;
    if (bound === "random_split") node = pickRandom(now, draw(random));
    else if (bound === "oracle") node = pickOracle(now, draw(random), request);
    if (node < 0 && bound !== "shared_queue") now.observer.ended(request, false, now.now_ms);
    else send(now, request, node);
  }
  return {
    begin: forward,
    tryOver(now, attempt) {
      const request = attempt.request;
      const again = attempt.ending === Ending.Refused || attempt.ending === Ending.TimedOut;
      if (again && request.tries.length < now.nodes.length) forward(now, request);
      else now.observer.ended(request, attempt.ending === Ending.Ok, now.now_ms);
    },
    weights: () => [],
  };
}
