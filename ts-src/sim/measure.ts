import type { Job, Result, Series } from "./job";
import type { Observer } from "./simulation";

/** Nodes shown over time; with more, a chart says nothing. */
const SERIES_NODES_MAX = 32;

/** What happened to the requests that arrived in one second. */
interface Second {
  latencies: number[];
  errors: number;
  /** By node. */
  tries: number[];
  weights: number[];
}

/** Everything counted in a run. */
export interface Measure {
  begun: number;
  ended: number;
  /** Of requests that began after the warm-up, and before the end of the measured time. */
  requests: number;
  failed: number;
  latencies: number[];
  wait_sum_ms: number;
  tries: number;
  node_tries: number[];
  /** Answered within the measured time. */
  answered_in_time: number;
  seconds: Second[];
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
    latencies: [],
    wait_sum_ms: 0,
    tries: 0,
    node_tries: zeros(n),
    answered_in_time: 0,
    seconds: [],
    shown: n <= SERIES_NODES_MAX ? n : 0,
  };
}

function secondAt(measure: Measure, at_ms: number): Second {
  const at = Math.floor(at_ms / 1000);
  while (measure.seconds.length <= at) {
    measure.seconds.push({ latencies: [], errors: 0, tries: zeros(measure.shown), weights: [] });
  }
  return measure.seconds[at];
}

/** @returns what the simulation tells of its requests */
export function observe(measure: Measure, job: Job): Observer {
  const warmup_ms = job.warmup_s * 1000;
  const end_ms = warmup_ms + job.duration_s * 1000;
  return {
    sent(attempt) {
      const node = attempt.node;
      if (node < 0) return;
      if (node < measure.shown) secondAt(measure, attempt.sent_ms).tries[node]++;
      if (attempt.sent_ms < warmup_ms) return;
      measure.tries++;
      measure.node_tries[node]++;
    },
    ended(request, ok, now_ms) {
      measure.ended++;
      const latency_ms = now_ms - request.born_ms;
      const second = secondAt(measure, request.born_ms);
      if (ok) second.latencies.push(latency_ms);
      else second.errors++;
      if (ok && now_ms >= warmup_ms && now_ms < end_ms) measure.answered_in_time++;
      if (request.born_ms < warmup_ms) return;
      measure.requests++;
      if (!ok) {
        measure.failed++;
        return;
      }
      measure.latencies.push(latency_ms);
      measure.wait_sum_ms += latency_ms - request.demand_ms - 2 * job.network_ms;
    },
  };
}

/** Notes the weights in force, once a second. */
export function noteWeights(measure: Measure, at_ms: number, weights: number[]): void {
  const copy: number[] = [];
  for (let k = 0; k < Math.min(weights.length, measure.shown); k++) copy[k] = weights[k];
  secondAt(measure, at_ms).weights = copy;
}

/** Nearest rank. @param sorted ascending @returns 0 when there is nothing */
function quantile(sorted: number[], q: number): number {
  if (sorted.length === 0) return 0;
  return sorted[Math.max(0, Math.ceil(q * sorted.length) - 1)];
}

function round(value: number, digits: number): number {
  const scale = 10 ** digits;
  return Math.floor(value * scale + 0.5) / scale;
}

function seriesOf(measure: Measure, seconds: number): Series {
  const series: Series = { p50_ms: [], p99_ms: [], errors: [], requests: [], tries: [], weights: [] };
  for (let node = 0; node < measure.shown; node++) {
    series.tries[node] = [];
    series.weights[node] = [];
  }
  for (let at = 0; at < seconds; at++) {
    const { latencies, errors, tries, weights } = secondAt(measure, at * 1000);
    table.sort(latencies);
    series.p50_ms.push(round(quantile(latencies, 0.5), 2));
    series.p99_ms.push(round(quantile(latencies, 0.99), 2));
    series.errors.push(errors);
    series.requests.push(latencies.length + errors);
    for (let node = 0; node < measure.shown; node++) {
      series.tries[node].push(tries[node]);
      series.weights[node].push(weights.length > node ? weights[node] : 0);
    }
  }
  return series;
}

/** @param capacity_per_s requests a second that the nodes can serve */
export function resultOf(measure: Measure, job: Job, capacity_per_s: number, faults: string[]): Result {
  const latencies = measure.latencies;
  table.sort(latencies);
  let sum_ms = 0;
  for (const latency_ms of latencies) sum_ms += latency_ms;
  const answered = Math.max(1, latencies.length);
  const tries = Math.max(1, measure.tries);
  let peak = 0;
  for (const count of measure.node_tries) peak = Math.max(peak, count);
  return {
    name: job.name,
    seed: job.seed,
    strategy: job.bound ?? job.strategy,
    begun: measure.begun,
    ended: measure.ended,
    requests: measure.requests,
    rate_per_s: round(measure.requests / job.duration_s, 1),
    capacity_per_s: round(capacity_per_s, 1),
    p50_ms: round(quantile(latencies, 0.5), 3),
    p99_ms: round(quantile(latencies, 0.99), 3),
    p999_ms: round(quantile(latencies, 0.999), 3),
    mean_ms: round(sum_ms / answered, 4),
    mean_wait_ms: round(measure.wait_sum_ms / answered, 4),
    error_share: round(measure.failed / Math.max(1, measure.requests), 7),
    goodput_per_s: round(measure.answered_in_time / job.duration_s, 1),
    tries_per_request: round(measure.tries / Math.max(1, measure.requests), 5),
    peak_to_mean: round((peak * measure.node_tries.length) / tries, 4),
    shares: measure.node_tries.map((count) => round(count / tries, 5)),
    faults,
    series: seriesOf(measure, job.warmup_s + job.duration_s),
  };
}
