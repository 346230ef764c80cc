/** From what was counted to a run's figures. */
import type { ClassResult, Job, RefusedResult, Result, Series } from "./job";
import { type ClassMeasure, type Measure, stepAt } from "./measure";

/** Fewer of the hot key's tries are strays: retries, or the last ones before the key was found to be hot. */
const HOT_NODE_SHARE = 0.01;

/** Nearest rank. @param sorted ascending @returns 0 when there is nothing */
function quantile(sorted: number[], q: number): number {
  if (sorted.length === 0) return 0;
  return sorted[Math.max(0, Math.ceil(q * sorted.length) - 1)];
}

function round(value: number, digits: number): number {
  const scale = 10 ** digits;
  return Math.floor(value * scale + 0.5) / scale;
}

function seriesOf(measure: Measure, steps: number): Series {
  const series: Series = {
    step_ms: measure.step_ms,
    p50_ms: [],
    p99_ms: [],
    errors: [],
    requests: [],
    tries: [],
    weights: [],
  };
  for (let node = 0; node < measure.shown; node++) {
    series.tries[node] = [];
    series.weights[node] = [];
  }
  for (let at = 0; at < steps; at++) {
    const { latencies, errors, tries, weights } = stepAt(measure, at * measure.step_ms);
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

function classResult(name: string, { latencies, failed, refused }: ClassMeasure): ClassResult {
  table.sort(latencies);
  const requests = latencies.length + failed + refused;
  return {
    name,
    requests,
    p50_ms: round(quantile(latencies, 0.5), 3),
    p99_ms: round(quantile(latencies, 0.99), 3),
    error_share: round(failed / Math.max(1, requests), 7),
    refused_share: round(refused / Math.max(1, requests), 7),
  };
}

function refusals({ refused, requests }: Measure): RefusedResult[] {
  const list: RefusedResult[] = [];
  for (const [reason, times] of pairs(refused)) {
    if (times !== undefined) {
      table.sort(times);
      const share = round(times.length / Math.max(1, requests), 7);
      list.push({ reason, share, p50_ms: round(quantile(times, 0.5), 3), p99_ms: round(quantile(times, 0.99), 3) });
    }
  }
  list.sort((a, b) => (a.reason < b.reason ? -1 : 1));
  return list;
}

/** How many nodes serve the hot key: those with more of its tries than stray ones. */
function hotKeyNodes(measure: Measure): number {
  let total = 0;
  for (const tries of measure.hot_tries) total += tries;
  let nodes = 0;
  for (const tries of measure.hot_tries) if (tries >= HOT_NODE_SHARE * total && tries > 0) nodes++;
  return nodes;
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
  const refused = refusals(measure);
  let refused_share = 0;
  for (const { share } of refused) refused_share += share;
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
    refused_share: round(refused_share, 7),
    refused,
    goodput_per_s: round(measure.answered_in_time / job.duration_s, 1),
    tries_per_request: round(measure.tries / Math.max(1, measure.requests), 5),
    peak_to_mean: round((peak * measure.node_tries.length) / tries, 4),
    shares: measure.node_tries.map((count) => round(count / tries, 5)),
    hit_share: job.cache === undefined ? -1 : round(measure.hits / answered, 5),
    hot_key_nodes: job.keys !== undefined && job.keys.hot_share > 0 ? hotKeyNodes(measure) : -1,
    classes: job.classes.map(({ name }, at) => classResult(name, measure.classes[at])),
    faults,
    series: seriesOf(measure, Math.ceil(((job.warmup_s + job.duration_s) * 1000) / measure.step_ms)),
  };
}
