/** From the options of an upstream's queue to what a drain of its backlog does. */
import { DEFAULT_CLASSES } from "./classes";
import type { QueueConfig, UpstreamConfig } from "./model";
import { HIGHEST_PRIORITY, LOWEST_PRIORITY, priorityOf } from "./priority";

export interface DrainPlan {
  /** Which of the classes 1..5 are refused at the door. */
  refuse: boolean[];
  /** Weights of the classes 1..5. */
  weights: number[];
  /** How many requests more than the limits say may be in flight, over the upstream. */
  max_extra: number;
}

/** Each class gets twice what the next lower one does. */
const DEFAULT_WEIGHTS = [16, 8, 4, 2, 1];

/** @returns by priority − 1, whether a class of that priority is among the names */
export function prioritiesNamed(config: UpstreamConfig, names: string[]): boolean[] {
  const named: boolean[] = [];
  for (let k = 0; k < LOWEST_PRIORITY; k++) named[k] = false;
  const classes: Record<string, string | number | undefined> = config.classes ?? DEFAULT_CLASSES;
  for (let i = 0; i < names.length; i++) {
    const priority = priorityOf(classes[names[i]]);
    if (priority !== undefined) named[priority - 1] = true;
  }
  return named;
}

/** Without a list all but the highest are refused. */
function refusedBy(config: UpstreamConfig, names: string[] | undefined): boolean[] {
  if (names !== undefined) return prioritiesNamed(config, names);
  const refuse: boolean[] = [];
  for (let k = 0; k < LOWEST_PRIORITY; k++) refuse[k] = k + 1 > HIGHEST_PRIORITY;
  return refuse;
}

function weightsOf(config: UpstreamConfig, given: Record<string, number>): number[] {
  const weights: number[] = [];
  for (let k = 0; k < LOWEST_PRIORITY; k++) weights[k] = DEFAULT_WEIGHTS[k];
  const classes: Record<string, string | number | undefined> = config.classes ?? DEFAULT_CLASSES;
  for (const name in given) {
    const priority = priorityOf(classes[name]);
    if (priority !== undefined) weights[priority - 1] = given[name];
  }
  return weights;
}

/**
 * `max_conns` is never exceeded, an adaptive limit finds its own way, and where nobody has set a limit there is nothing
 * to exceed.
 */
function roomOf(config: UpstreamConfig): number {
  if (config.adaptive_limit !== undefined) return 0;
  let sum = 0;
  for (let i = 0; i < config.nodes.length; i++) {
    const node = config.nodes[i];
    if (node.max_conns === 0 && !node.down) sum += config.max_concurrency_per_node ?? 0;
  }
  return config.max_concurrency === undefined ? sum : Math.min(sum, config.max_concurrency);
}

export function drainPlan(config: UpstreamConfig, queue: QueueConfig): DrainPlan {
  const { refuse, class_weights, max_extra_ratio } = queue.drain;
  return {
    refuse: refusedBy(config, refuse),
    weights: weightsOf(config, class_weights),
    max_extra: Math.floor(roomOf(config) * max_extra_ratio),
  };
}
