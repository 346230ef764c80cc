/**
 * Gateways as they are in nginx, without nginx: each has workers (worker.ts), which do what the phases do
 * (serve.ts). Workers of a gateway share a Store, gateways share nothing.
 */
import { drawBelow, newRandom, type Random } from "../resty/ax/core/random";
import type { Store } from "../resty/ax/core/store";
import { configAt } from "./config";
import { wakeNow } from "./door";
import { pushEvent } from "./events";
import { admitOne, attemptOne, tryOver } from "./serve";
import { Kind, type Router, type SimRequest, type Simulation } from "./simulation";
import { newStore } from "./store";
import { clockMs, flushTimer, leave, newProcesses, newWorker, type Processes, receive, type Worker } from "./worker";

interface Gateways {
  workers: Worker[];
  stores: Store[];
  random: Random;
  processes: Processes;
}

/** Starts the workers of all gateways, in place of those that run. */
function startWorkers(gateways: Gateways, sim: Simulation): void {
  const config = configAt(sim.job, sim.now_ms);
  for (const worker of gateways.workers) leave(worker, clockMs(sim));
  gateways.workers = [];
  for (let g = 0; g < sim.job.gateways; g++) {
    for (let w = 0; w < sim.job.workers; w++) {
      const worker = newWorker(gateways.processes, sim, config, gateways.stores[g], wakeNow);
      gateways.workers.push(worker);
      receive(worker, clockMs(sim));
      const first_ms = sim.now_ms + drawBelow(gateways.random, config.flush_interval_ms);
      pushEvent(sim.heap, first_ms, Kind.Timer, flushTimer(gateways.processes, worker));
    }
  }
}

/** Reloads all gateways whenever nodes join. */
function planReloads(gateways: Gateways, sim: Simulation): void {
  const reload = {
    fire: (now: Simulation): void => {
      startWorkers(gateways, now);
    },
  };
  let reloaded_s = 0;
  for (const node of sim.nodes) {
    // Ascending: checked when the job is read.
    if (node.spec.joins_at_s > reloaded_s) {
      reloaded_s = node.spec.joins_at_s;
      pushEvent(sim.heap, reloaded_s * 1000, Kind.Timer, reload);
    }
  }
}

/** A client that keeps its connection stays with the worker that accepted it. */
function workerFor(gateways: Gateways, request: SimRequest): Worker {
  const { workers, random } = gateways;
  if (request.client < 0) return workers[drawBelow(random, workers.length)];
  return workers[request.client % workers.length];
}

/**
 * @param seed of the workers, and of which one a request arrives at
 * @param faults complaints go here
 */
export function newGateways(sim: Simulation, seed: number, faults: string[]): Router {
  const random = newRandom(seed);
  const processes = newProcesses(drawBelow(random, 1e6), faults);
  const gateways: Gateways = { workers: [], stores: [], random, processes };
  for (let g = 0; g < sim.job.gateways; g++) gateways.stores[g] = newStore();
  startWorkers(gateways, sim);
  planReloads(gateways, sim);
  return {
    begin(now, request) {
      request.worker = workerFor(gateways, request);
      if (now.job.access) admitOne(processes, now, request);
      else attemptOne(processes, now, request);
    },
    tryOver(now, attempt) {
      tryOver(processes, now, attempt);
    },
    weights: () => gateways.workers[0].upstream.pool.weight,
  };
}
