import { draw } from "../resty/ax/core/random";
import { newCache, useCache } from "./cache";
import { append, headMs, newLine, pushEvent, take } from "./events";
import type { CacheSpec, NodeSpec } from "./job";
import { Ending, Kind, type SimNode, type SimRequest, type Simulation, type Try } from "./simulation";
import { advance, newTimeline, workEnds } from "./timeline";

/**
 * @param end_ms nothing happens to the node later
 * @param cache what it remembers of keys
 */
export function newNode(number: number, spec: NodeSpec, end_ms: number, cache?: CacheSpec): SimNode {
  return {
    number,
    spec,
    timeline: newTimeline(spec, end_ms),
    busy: 0,
    in_flight: 0,
    waiting: newLine(),
    cache: cache === undefined ? undefined : newCache(cache.entries),
  };
}

/** Sends a request to a node. */
export function send(sim: Simulation, request: SimRequest, node: number): Try {
  const attempt: Try = {
    request,
    node,
    sent_ms: sim.now_ms,
    ending: Ending.Ok,
    over: false,
    over_ms: 0,
    fails: false,
    in_slot: false,
  };
  request.tries.push(attempt);
  append(sim.outbound, sim.now_ms + sim.job.network_ms, attempt);
  append(sim.deadlines, sim.now_ms + sim.job.timeout_ms, attempt);
  if (node >= 0) sim.nodes[node].in_flight++;
  sim.observer.sent(attempt);
  return attempt;
}

/** The answer leaves the node. */
function answer(sim: Simulation, attempt: Try, ending: Ending): void {
  attempt.ending = ending;
  append(sim.inbound, sim.now_ms + sim.job.network_ms, attempt);
}

/** Work of a request at this node, ms at speed 1. One queue for all is a bound: it always hits. */
function workOf(sim: Simulation, node: SimNode, request: SimRequest): number {
  const spec = sim.job.cache;
  if (node.cache === undefined || spec === undefined) return request.demand_ms;
  request.was_hit = sim.shared_queue || useCache(node.cache, request.key);
  return request.was_hit ? request.demand_ms : request.demand_ms * spec.miss_factor;
}

/**
 * When work ends that a timer with whole steps measures. nginx counts from the last whole step of its clock, and fires
 * when it next wakes up after the step in which the timer ends: anywhere in it. Work shorter than half a step takes none.
 */
function byTimer(sim: Simulation, ends_ms: number): number {
  const step_ms = sim.job.service.timer_ms;
  const steps = Math.floor((ends_ms - sim.now_ms) / step_ms + 0.5);
  if (steps === 0) return sim.now_ms;
  return (Math.floor(sim.now_ms / step_ms) + steps + draw(sim.timers)) * step_ms;
}

function start(sim: Simulation, node: SimNode, attempt: Try): void {
  const [work_ms, broken] = workEnds(node.timeline, sim.now_ms, workOf(sim, node, attempt.request));
  const ends_ms = sim.job.service.timer_ms > 0 && !broken ? byTimer(sim, work_ms) : work_ms;
  attempt.in_slot = true;
  attempt.ending = broken ? Ending.Refused : attempt.fails ? Ending.Error : Ending.Ok;
  node.busy++;
  pushEvent(sim.heap, ends_ms, Kind.Done, attempt);
}

/** Lets whoever waits have the free slots. Those whose sender has given up are skipped: it closed the connection. */
export function startWaiting(sim: Simulation, node: SimNode): void {
  advance(node.timeline, sim.now_ms);
  const mode = node.timeline.mode[node.timeline.at];
  if (sim.shared_queue) {
    const absent = node.spec.joins_at_s * 1000 > sim.now_ms;
    if (absent || mode !== "up" || node.timeline.speed[node.timeline.at] <= 0) return;
  }
  const waiting = node.waiting;
  while (headMs(waiting) < Infinity && (node.busy < node.spec.slots || mode === "down")) {
    const attempt = take(waiting);
    if (!attempt.over) {
      if (mode === "down") answer(sim, attempt, Ending.Refused);
      else {
        if (sim.shared_queue) settleAt(sim, attempt, node.number);
        start(sim, node, attempt);
      }
    }
  }
}

/** A request out of the shared queue gets its node only now. */
function settleAt(sim: Simulation, attempt: Try, node: number): void {
  attempt.node = node;
  sim.nodes[node].in_flight++;
}

/** A try has reached its node. */
export function arrive(sim: Simulation, attempt: Try): void {
  const node = sim.nodes[attempt.node];
  const timeline = node.timeline;
  advance(timeline, sim.now_ms);
  const mode = timeline.mode[timeline.at];
  if (mode === "hang") return;
  if (mode === "down") {
    answer(sim, attempt, Ending.Refused);
    return;
  }
  const error_share = timeline.error_share[timeline.at];
  const fails = error_share > 0 && draw(sim.fate) < error_share;
  attempt.fails = fails && timeline.errors_work[timeline.at];
  if (mode === "black_hole" || (fails && !attempt.fails)) {
    attempt.ending = Ending.Error;
    pushEvent(sim.heap, sim.now_ms + sim.job.error_ms, Kind.Done, attempt);
  } else if (node.busy < node.spec.slots) {
    start(sim, node, attempt);
  } else {
    append(node.waiting, 0, attempt);
  }
}

/** A try's work is over, well or not. */
export function done(sim: Simulation, attempt: Try): void {
  if (!attempt.over) answer(sim, attempt, attempt.ending);
  if (!attempt.in_slot) return;
  const node = sim.nodes[attempt.node];
  node.busy--;
  startWaiting(sim, node);
}
