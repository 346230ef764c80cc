import { draw, type Random } from "../resty/ax/core/random";
import type { Job, Service } from "./job";

/** @returns an exponentially distributed number */
export function exponential(random: Random, mean: number): number {
  return -mean * Math.log(1 - draw(random));
}

/** Box–Muller; one of the pair is dropped. */
function normal(random: Random): number {
  return Math.sqrt(-2 * Math.log(1 - draw(random))) * Math.cos(2 * Math.PI * draw(random));
}

/**
 * Bounded Pareto: heavy tails as measured for web objects (Crovella & Bestavros 1997), by inversion.
 * The shortest work is such that the mean is 1.
 */
function boundedPareto(alpha: number, spread: number, u: number): number {
  const tail = spread ** -alpha;
  const mean =
    alpha === 1 ? Math.log(spread) / (1 - tail) : (alpha * (1 - spread ** (1 - alpha))) / ((alpha - 1) * (1 - tail));
  return (1 - u * (1 - tail)) ** (-1 / alpha) / mean;
}

/** How much work a request is, ms at a node of speed 1. */
export function drawDemand(service: Service, random: Random): number {
  const { distribution, mean_ms } = service;
  if (distribution === "fixed") return mean_ms;
  if (distribution === "lognormal") {
    const variance = Math.log(1 + service.cv * service.cv);
    return mean_ms * Math.exp(Math.sqrt(variance) * normal(random) - variance / 2);
  }
  if (distribution === "bimodal") {
    const light_ms = mean_ms / (1 + service.heavy_share * (service.heavy_factor - 1));
    const factor = draw(random) < service.heavy_share ? service.heavy_factor : 1;
    return exponential(random, light_ms * factor);
  }
  if (distribution === "pareto") return mean_ms * boundedPareto(service.alpha, service.spread, draw(random));
  return exponential(random, mean_ms);
}

/** The next request's arrival: a Poisson process whose rate follows the job's steps. */
export function nextArrival(job: Job, base_per_ms: number, now_ms: number, random: Random): number {
  let factor = 1;
  for (const step of job.steps) if (step.at_s * 1000 <= now_ms) factor = step.factor;
  if (factor > 0) return now_ms + exponential(random, 1 / (base_per_ms * factor));
  // Silence until the next step.
  for (const step of job.steps) if (step.at_s * 1000 > now_ms && step.factor > 0) return step.at_s * 1000;
  return Infinity;
}
