import { newRandom, type Random } from "../resty/ax/core/random";
import { nextArrival } from "./arrivals";
import { leaveQueue, newBound } from "./bounds";
import { closeLoop } from "./clients";
import { dropEvent, headMs, newHeap, newLine, pushEvent, take } from "./events";
import { newGateways } from "./gateways";
import type { Job, Result } from "./job";
import { type Measure, newMeasure, noteWeights, observe } from "./measure";
import { arrive, done, newNode } from "./node";
import { resultOf } from "./result";
import { Ending, Kind, type Router, type Simulation, type Timer, type Try } from "./simulation";
import { meanSpeed } from "./timeline";
import { newRequest, newTraits, type Traits } from "./traits";

/**
 * Every source of chance has a generator of its own, so that all strategies and bounds see the same
 * arrivals with the same work, whatever else they draw.
 */
const ARRIVALS = 1;
const DEMANDS = 2;
const FATE = 3;
const ROUTING = 4;
const KINDS = 5;
const KEYS = 6;
const TIMERS = 7;

function seedOf(seed: number, which: number): number {
  return seed * 1000003 + which * 7368787;
}

function generator(seed: number, which: number): Random {
  return newRandom(seedOf(seed, which));
}

/** No router yet: it needs the simulation. */
const NOBODY = undefined as unknown as Router;

function newSimulation(job: Job): Simulation {
  const end_ms = (job.warmup_s + job.duration_s) * 1000 + job.timeout_ms * job.nodes.length;
  return {
    job,
    now_ms: 0,
    heap: newHeap(),
    outbound: newLine(),
    inbound: newLine(),
    deadlines: newLine(),
    nodes: job.nodes.map((spec, number) => newNode(number, spec, end_ms, job.cache)),
    fate: generator(job.seed, FATE),
    timers: generator(job.seed, TIMERS),
    shared_queue: false,
    router: NOBODY,
    observer: undefined as never,
  };
}

/** Mean work of a request, ms; with caches, when all requests hit. */
function meanWorkMs(job: Job): number {
  if (job.classes.length === 0) return job.service.mean_ms;
  let factor = 0;
  for (const { share, work } of job.classes) factor += share * work;
  return job.service.mean_ms * factor;
}

/** Requests a second that the nodes can serve, on average over the measured time. */
function capacityPerS(sim: Simulation): number {
  const job = sim.job;
  const from_ms = job.warmup_s * 1000;
  const to_ms = from_ms + job.duration_s * 1000;
  let speed = 0;
  for (const node of sim.nodes) {
    const begin_ms = Math.min(to_ms, Math.max(from_ms, node.spec.joins_at_s * 1000));
    if (begin_ms < to_ms) {
      const share = (to_ms - begin_ms) / (to_ms - from_ms);
      speed += node.spec.slots * meanSpeed(node.timeline, begin_ms, to_ms) * share;
    }
  }
  return (speed * 1000) / meanWorkMs(job);
}

/** A try is over for its sender: it has the answer, or has waited long enough. */
function endTry(sim: Simulation, attempt: Try): void {
  attempt.over = true;
  attempt.over_ms = sim.now_ms;
  if (attempt.node >= 0) sim.nodes[attempt.node].in_flight--;
  sim.router.tryOver(sim, attempt);
}

function onDeadline(sim: Simulation): void {
  const attempt = take(sim.deadlines);
  if (attempt.over) return;
  attempt.ending = Ending.TimedOut;
  endTry(sim, attempt);
}

/** The first byte has come; the rest takes its time, which no time-out ends. */
function stream(sim: Simulation, attempt: Try): void {
  attempt.over = true;
  attempt.over_ms = sim.now_ms;
  sim.nodes[attempt.node].in_flight--;
  const timer: Timer = {
    fire(now) {
      now.router.tryOver(now, attempt);
    },
  };
  pushEvent(sim.heap, sim.now_ms + attempt.request.stream_ms, Kind.Timer, timer);
}

function onInbound(sim: Simulation): void {
  const attempt = take(sim.inbound);
  if (attempt.over) return;
  const request = attempt.request;
  if (attempt.ending === Ending.Ok) {
    request.answered_ms = sim.now_ms;
    if (request.stream_ms > 0) {
      stream(sim, attempt);
      return;
    }
  }
  endTry(sim, attempt);
}

function onOutbound(sim: Simulation): void {
  const attempt = take(sim.outbound);
  if (sim.shared_queue && !leaveQueue(sim, attempt)) return;
  arrive(sim, attempt);
}

function onEvent(sim: Simulation): void {
  const kind = sim.heap.kind[0];
  const subject = sim.heap.subject[0];
  dropEvent(sim.heap);
  if (kind === Kind.Done) done(sim, subject as Try);
  else (subject as Timer).fire(sim);
}

/** Notes weights at every step, as long as requests arrive. */
function watchWeights(sim: Simulation, measure: Measure, end_ms: number): void {
  const step_ms = sim.job.step_ms;
  const timer: Timer = {
    fire(now) {
      noteWeights(measure, now.now_ms, now.router.weights());
      if (now.now_ms + step_ms < end_ms) pushEvent(now.heap, now.now_ms + step_ms, Kind.Timer, timer);
    },
  };
  pushEvent(sim.heap, step_ms / 2, Kind.Timer, timer);
}

/** Whatever comes next, but for arrivals. */
function onNext(sim: Simulation, next_ms: number, event_ms: number, in_ms: number, out_ms: number): void {
  sim.now_ms = next_ms;
  if (in_ms === next_ms) onInbound(sim);
  else if (event_ms === next_ms) onEvent(sim);
  else if (out_ms === next_ms) onOutbound(sim);
  else onDeadline(sim);
}

/** Runs until every request has ended. @param per_ms requests arriving; 0 = they come from clients */
function run(sim: Simulation, measure: Measure, traits: Traits, per_ms: number, end_ms: number): void {
  const job = sim.job;
  const arrivals = generator(job.seed, ARRIVALS);
  const is_open = per_ms > 0;
  let arrival_ms = is_open ? nextArrival(job, per_ms, 0, arrivals) : Infinity;
  while (arrival_ms < end_ms || measure.ended < measure.begun || (!is_open && sim.now_ms < end_ms)) {
    const event_ms = sim.heap.size > 0 ? sim.heap.at_ms[0] : Infinity;
    const out_ms = headMs(sim.outbound);
    const in_ms = headMs(sim.inbound);
    const next_ms = Math.min(event_ms, out_ms, in_ms, headMs(sim.deadlines));
    if (arrival_ms <= next_ms && arrival_ms < end_ms) {
      sim.now_ms = arrival_ms;
      measure.begun++;
      sim.router.begin(sim, newRequest(traits, job, measure.begun, -1, arrival_ms));
      arrival_ms = nextArrival(job, per_ms, arrival_ms, arrivals);
    } else if (next_ms < Infinity) {
      onNext(sim, next_ms, event_ms, in_ms, out_ms);
    } else {
      break;
    }
  }
}

/** Runs one job to its end. */
export function simulate(job: Job): Result {
  const sim = newSimulation(job);
  const measure = newMeasure(job);
  const faults: string[] = [];
  const routing_seed = seedOf(job.seed, ROUTING);
  const end_ms = (job.warmup_s + job.duration_s) * 1000;
  const traits = newTraits(job, [seedOf(job.seed, DEMANDS), seedOf(job.seed, KINDS), seedOf(job.seed, KEYS)]);
  sim.observer = observe(measure, job);
  sim.router =
    job.bound === undefined ? newGateways(sim, routing_seed, faults) : newBound(sim, job.bound, routing_seed);
  const capacity_per_s = capacityPerS(sim);
  let per_s = job.rate_per_s > 0 ? job.rate_per_s : job.rho * capacity_per_s;
  if (job.clients > 0) {
    per_s = 0;
    closeLoop(sim, end_ms, (client) => {
      measure.begun++;
      sim.router.begin(sim, newRequest(traits, job, measure.begun, client, sim.now_ms));
    });
  }
  watchWeights(sim, measure, end_ms);
  run(sim, measure, traits, per_s / 1000, end_ms);
  return resultOf(measure, job, capacity_per_s, faults);
}
