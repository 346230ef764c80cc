import { rampFactor, rampLimit, stateShare } from "../core/health/ramp";
import { isUsable } from "../core/health/states";
import { type Evidence, LATENCY_FLOOR_MS, weigh } from "../core/evidence";
import { DEFAULT_CAPACITY } from "../core/model";
import { connRatio, errorRatio, p99Ratio, referenceP99, stepScore, targetScore } from "../core/score";
import { advanceNode, forgetOlder, isEmpty, judged, meanMs } from "../core/windows";
import { type SignalMeans, signalMeans, signalShare } from "./signals";
import { breathe, type Collector, type NodeRecord, type UpstreamRecord } from "./state";
import { moveStates } from "./states";
import { round } from "../core/values";

/**
 * One look at one upstream: states, then scores, then what picks need to know of every node.
 *
 * @param now_ms monotonic ms
 */
export function judgeUpstream(collector: Collector, upstream: UpstreamRecord, now_ms: number): void {
  for (let i = 0; i < upstream.nodes.length; i++) {
    breathe(collector, 0.5);
    advanceNode(upstream.nodes[i].windows, now_ms);
  }
  moveStates(collector, upstream, now_ms);
  moveScores(collector, upstream, now_ms);
  measureInFlight(upstream);
  const means = signalMeans(upstream, collector.deps.probes !== undefined, now_ms);
  upstream.settled = upstream.panic_since_ms === undefined;
  upstream.picks = 0;
  for (let i = 0; i < upstream.nodes.length; i++) {
    const node = upstream.nodes[i];
    breathe(collector, 0.5);
    upstream.picks += node.windows.short.total.picks;
    describeForPicks(node, upstream, means, now_ms);
    if (!isSettled(node, now_ms)) upstream.settled = false;
  }
}

/** What of the last value is kept at each look: a lull between two bunches of requests must not stop a ramp. */
const IN_FLIGHT_MEMORY = 0.9;

/** What a usual node has in flight: the yardstick for those that ramp. */
function measureInFlight(upstream: UpstreamRecord): void {
  let sum = 0;
  let nodes = 0;
  for (let i = 0; i < upstream.nodes.length; i++) {
    const { health, detail } = upstream.nodes[i];
    if (isUsable(health.state) && health.state !== "ramping") {
      sum += detail.in_flight;
      nodes++;
    }
  }
  const mean = nodes > 0 ? sum / nodes : 0;
  upstream.usual_in_flight = nodes > 0 ? Math.max(mean, upstream.usual_in_flight * IN_FLIGHT_MEMORY) : 0;
}

/** An answer that takes longer than this many typical P99s is unusual: one in a thousand, if latencies are exponential. */
const USUAL_RATIO = 1.5;

/**
 * So many usual answers in a row are no luck: of a node 8 times as slow (exponential), 58 % of the answers are within
 * 1.5 × the typical P99, and 0.58¹² = 0.15 %.
 */
const GOOD_RUN = 12;

/**
 * The node has been slow, and is not any more, which few answers have to tell: a slow node gets few requests, and the
 * short window seldom has enough of them for its own judgement (core/evidence.ts).
 */
function hasRecovered(node: NodeRecord, evidence: Evidence): boolean {
  return node.good_run >= GOOD_RUN && evidence.p99_ms !== undefined && evidence.p99_ms > node.usual_ms;
}

/** Scores by the nodes' evidence. A node out of rotation has none: it drifts back to average. */
function moveScores(collector: Collector, upstream: UpstreamRecord, now_ms: number): void {
  const nodes = upstream.nodes;
  const p99s_ms: number[] = [];
  let known = 0;
  for (let i = 0; i < nodes.length; i++) {
    const node = nodes[i];
    node.evidence = undefined;
    if (isUsable(node.health.state) && !isEmpty(node.windows.long.total)) {
      breathe(collector, 1);
      const evidence = weigh(node.windows, upstream.config.min_samples);
      node.evidence = evidence;
      if (evidence.recovered || hasRecovered(node, evidence)) forgetOlder(node.windows, now_ms);
      if (evidence.p99_ms !== undefined && evidence.p99_confidence >= 1) {
        p99s_ms[known] = evidence.p99_ms;
        known++;
      }
    }
  }
  const reference_ms = referenceP99(p99s_ms);
  upstream.typical_p99_ms = reference_ms ?? 0;
  const usual_ms = reference_ms === undefined ? 0 : Math.max(reference_ms, LATENCY_FLOOR_MS) * USUAL_RATIO;
  for (let i = 0; i < nodes.length; i++) {
    breathe(collector, 0.25);
    nodes[i].usual_ms = usual_ms;
    moveScore(nodes[i], upstream, reference_ms, now_ms);
  }
}

function moveScore(node: NodeRecord, upstream: UpstreamRecord, reference_ms: number | undefined, now_ms: number): void {
  const config = upstream.config;
  const { detail, evidence } = node;
  const capacity =
    node.config.max_conns > 0 ? node.config.max_conns : (config.max_concurrency_per_node ?? DEFAULT_CAPACITY);
  const seen = targetScore(
    p99Ratio(evidence?.p99_ms, reference_ms, evidence?.p99_confidence ?? 0),
    errorRatio(evidence?.error_rate ?? 0, config.error_penalty_from, config.eject_error_rate),
    connRatio(detail.in_flight, capacity),
    config,
  );
  // A score taken over stands until there is something to be said against it.
  const knows = evidence !== undefined && evidence.p99_confidence >= 1 && reference_ms !== undefined;
  const target = !knows && now_ms < node.held_until_ms ? detail.score : seen;
  const since_ms = now_ms - detail.score_at_ms;
  const score = stepScore(detail.score, target, since_ms, config.weight_step, config.weight_step_interval_ms);
  detail.target_score = target;
  if (score !== detail.score) {
    detail.score = score;
    detail.score_at_ms = now_ms;
  }
}

/** Fills in what a pick needs to know: for every node, at every look. */
function describeForPicks(node: NodeRecord, upstream: UpstreamRecord, means: SignalMeans, now_ms: number): void {
  const { detail, health, seen, windows } = node;
  const ramp = stateShare(health, seen, upstream.config, now_ms) * signalShare(node, upstream.config, means, now_ms);
  const mean_ms = meanMs(windows.short.total) ?? meanMs(windows.long.total);
  detail.state = health.state;
  detail.weight = round(node.config.weight * detail.score * ramp, 1e4);
  detail.static_weight = round(node.config.weight * ramp, 1e4);
  const may_try = health.live === true || (health.state === "probing" && seen.probe === undefined);
  detail.trial = may_try ? health.trial : undefined;
  const limits = health.state === "ramping" && upstream.usual_in_flight > 0;
  const factor = limits ? rampFactor(health, upstream.config, now_ms) : 1;
  detail.ramp_limit = limits ? rampLimit(factor, upstream.usual_in_flight) : undefined;
  detail.latency_ms = mean_ms === undefined ? undefined : round(mean_ms, 100);
  detail.success = successShare(node);
  detail.samples = windows.long.total.ok > 0 ? round(windows.long.total.ok, 1) : undefined;
  const evidence = node.evidence;
  const knows_p99 = evidence?.p99_ms !== undefined && evidence.p99_confidence >= 1;
  detail.judged_p99_ms = knows_p99 ? round(evidence.p99_ms ?? 0, 10) : undefined;
}

/** Tries taken as successful beforehand: one failure of one must not read as "never answers". */
const SUCCESS_PRIOR = 2;

/**
 * (ok + 2) ÷ (judged + 2) of the short window; while it is empty, of the long one: that a failing node
 * gets no requests any more does not make it a good one. 1 without any tries.
 */
function successShare(node: NodeRecord): number {
  const { short, long } = node.windows;
  const tally = judged(short.total) === 0 ? long.total : short.total;
  return round((tally.ok + SUCCESS_PRIOR) / (judged(tally) + SUCCESS_PRIOR), 1e4);
}

function isSettled(node: NodeRecord, now_ms: number): boolean {
  const { detail, health, seen, windows } = node;
  return (
    isEmpty(windows.long.total) &&
    isEmpty(windows.short.total) &&
    detail.in_flight === 0 &&
    detail.score === detail.target_score &&
    now_ms >= node.held_until_ms &&
    health.ejections === 0 &&
    health.error_since_ms === undefined &&
    health.kept === undefined &&
    seen.busy_until_ms <= now_ms &&
    (health.state === "online" || health.state === "offline" || health.state === "maintenance")
  );
}
