import { newRandom, type Random } from "../resty/ax/core/random";
import { drawDemand, nextArrival } from "./arrivals";
import { leaveQueue, newBound } from "./bounds";
import { dropEvent, headMs, newHeap, newLine, pushEvent, take } from "./events";
import { newGateways } from "./gateways";
import type { Job, Result } from "./job";
import { newMeasure, noteWeights, observe, resultOf } from "./measure";
import { arrive, done, newNode } from "./node";
import { Ending, Kind, type Router, type Simulation, type Timer, type Try } from "./simulation";
import { meanSpeed } from "./timeline";

/**
 * Every source of chance has a generator of its own, so that all strategies and bounds see the same
 * arrivals with the same work, whatever else they draw.
 */
const ARRIVALS = 1;
const DEMANDS = 2;
const FATE = 3;
const ROUTING = 4;

function generator(seed: number, which: number): Random {
  return newRandom(seed * 1000003 + which * 7368787);
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
    nodes: job.nodes.map((spec, number) => newNode(number, spec, end_ms)),
    fate: generator(job.seed, FATE),
    shared_queue: false,
    router: NOBODY,
    observer: undefined as never,
  };
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
  return (speed * 1000) / job.service.mean_ms;
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

function onInbound(sim: Simulation): void {
  const attempt = take(sim.inbound);
  if (!attempt.over) endTry(sim, attempt);
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

/** Notes weights every second, as long as requests arrive. */
function watchWeights(sim: Simulation, note: (this: void, weights: number[]) => void, end_ms: number): void {
  const timer: Timer = {
    fire(now) {
      note(now.router.weights());
      if (now.now_ms + 1000 < end_ms) pushEvent(now.heap, now.now_ms + 1000, Kind.Timer, timer);
    },
  };
  pushEvent(sim.heap, 500, Kind.Timer, timer);
}

/** Runs until every request has ended. */
function run(sim: Simulation, per_ms: number, end_ms: number, measure: { begun: number; ended: number }): void {
  const job = sim.job;
  const arrivals = generator(job.seed, ARRIVALS);
  const demands = generator(job.seed, DEMANDS);
  let arrival_ms = nextArrival(job, per_ms, 0, arrivals);
  while (arrival_ms < end_ms || measure.ended < measure.begun) {
    const event_ms = sim.heap.size > 0 ? sim.heap.at_ms[0] : Infinity;
    const out_ms = headMs(sim.outbound);
    const in_ms = headMs(sim.inbound);
    const deadline_ms = headMs(sim.deadlines);
    const next_ms = Math.min(event_ms, out_ms, in_ms, deadline_ms);
    if (arrival_ms <= next_ms && arrival_ms < end_ms) {
      sim.now_ms = arrival_ms;
      measure.begun++;
      sim.router.begin(sim, {
        id: measure.begun,
        born_ms: arrival_ms,
        demand_ms: drawDemand(job.service, demands),
        worker: undefined,
        record: undefined,
        tries: [],
      });
      arrival_ms = nextArrival(job, per_ms, arrival_ms, arrivals);
    } else {
      sim.now_ms = next_ms;
      if (in_ms === next_ms) onInbound(sim);
      else if (event_ms === next_ms) onEvent(sim);
      else if (out_ms === next_ms) onOutbound(sim);
      else onDeadline(sim);
    }
  }
}

/** Runs one job to its end. */
export function simulate(job: Job): Result {
  const sim = newSimulation(job);
  const measure = newMeasure(job);
  const faults: string[] = [];
  const routing_seed = job.seed * 1000003 + ROUTING * 7368787;
  sim.observer = observe(measure, job);
  sim.router =
    job.bound === undefined ? newGateways(sim, routing_seed, faults) : newBound(sim, job.bound, routing_seed);
  const capacity_per_s = capacityPerS(sim);
  const per_s = job.rate_per_s > 0 ? job.rate_per_s : job.rho * capacity_per_s;
  const end_ms = (job.warmup_s + job.duration_s) * 1000;
  watchWeights(
    sim,
    (weights) => {
      noteWeights(measure, sim.now_ms, weights);
    },
    end_ms,
  );
  run(sim, per_s / 1000, end_ms, measure);
  return resultOf(measure, job, capacity_per_s, faults);
}
