import type { Job } from "./job";
import { HOT_KEY } from "./keys";
import type { Observer, SimRequest } from "./simulation";

/** Nodes shown over time; with more, a chart says nothing. */
const SERIES_NODES_MAX = 32;

/** What happened to the requests that arrived in one step of the series. */
export interface Step {
  latencies: number[];
  errors: number;
  /** By node. */
  tries: number[];
  weights: number[];
}

/** The requests of one class. */
export interface ClassMeasure {
  latencies: number[];
  failed: number;
  refused: number;
}

/** Everything counted in a run. */
export interface Measure {
  begun: number;
  ended: number;
  /** Of requests that began after the warm-up, and before the end of the measured time. */
  requests: number;
  failed: number;
  /** Times to the refusal, by reason. */
  refused: Record<string, number[] | undefined>;
  latencies: number[];
  wait_sum_ms: number;
  tries: number;
  node_tries: number[];
  /** Answered within the measured time. */
  answered_in_time: number;
  hits: number;
  /** Tries of the hot key, by node. */
  hot_tries: number[];
  classes: ClassMeasure[];
  step_ms: number;
  steps: Step[];
  /** Nodes in the series. */
  shown: number;
}

function zeros(n: number): number[] {
  const list: number[] = [];
  for (let k = 0; k < n; k++) list[k] = 0;
  return list;
}

export function newMeasure(job: Job): Measure {
  const n = job.nodes.length;
  return {
    begun: 0,
    ended: 0,
    requests: 0,
    failed: 0,
    refused: {},
    latencies: [],
    wait_sum_ms: 0,
    tries: 0,
    node_tries: zeros(n),
    answered_in_time: 0,
    hits: 0,
    hot_tries: zeros(n),
    classes: job.classes.map(() => ({ latencies: [], failed: 0, refused: 0 })),
    step_ms: job.step_ms,
    steps: [],
    shown: n <= SERIES_NODES_MAX ? n : 0,
  };
}

/** @returns the step that holds a time */
export function stepAt(measure: Measure, at_ms: number): Step {
  const at = Math.floor(at_ms / measure.step_ms);
  while (measure.steps.length <= at) {
    measure.steps.push({ latencies: [], errors: 0, tries: zeros(measure.shown), weights: [] });
  }
  return measure.steps[at];
}

/** A request that counts has ended. */
function count(measure: Measure, request: SimRequest, ok: boolean, latency_ms: number): void {
  const of_class = request.class_at >= 0 ? measure.classes[request.class_at] : undefined;
  measure.requests++;
  if (request.refused !== "") {
    const times = measure.refused[request.refused] ?? [];
    times.push(latency_ms);
    measure.refused[request.refused] = times;
    if (of_class !== undefined) of_class.refused++;
    return;
  }
  if (!ok) {
    measure.failed++;
    if (of_class !== undefined) of_class.failed++;
    return;
  }
  measure.latencies.push(latency_ms);
  if (request.was_hit) measure.hits++;
  of_class?.latencies.push(latency_ms);
}

/** @returns what the simulation tells of its requests */
export function observe(measure: Measure, job: Job): Observer {
  const warmup_ms = job.warmup_s * 1000;
  const end_ms = warmup_ms + job.duration_s * 1000;
  return {
    sent(attempt) {
      const node = attempt.node;
      if (node < 0) return;
      if (node < measure.shown) stepAt(measure, attempt.sent_ms).tries[node]++;
      if (attempt.sent_ms < warmup_ms) return;
      measure.tries++;
      measure.node_tries[node]++;
      if (attempt.request.key === HOT_KEY) measure.hot_tries[node]++;
    },
    ended(request, ok, now_ms) {
      measure.ended++;
      // Of a stream, its first byte.
      const answered_ms = ok && request.answered_ms >= 0 ? request.answered_ms : now_ms;
      const latency_ms = answered_ms - request.born_ms;
      const step = stepAt(measure, request.born_ms);
      if (ok) step.latencies.push(latency_ms);
      else if (request.refused === "") step.errors++;
      if (ok && answered_ms >= warmup_ms && answered_ms < end_ms) measure.answered_in_time++;
      if (request.born_ms < warmup_ms) return;
      count(measure, request, ok, latency_ms);
      if (ok) measure.wait_sum_ms += latency_ms - request.demand_ms - 2 * job.network_ms;
    },
  };
}

/** Notes the weights in force, once a step. */
export function noteWeights(measure: Measure, at_ms: number, weights: number[]): void {
  const copy: number[] = [];
  for (let k = 0; k < Math.min(weights.length, measure.shown); k++) copy[k] = weights[k];
  stepAt(measure, at_ms).weights = copy;
}
