/**
 * Adaptive concurrency limits of one upstream (option adaptive_limit): one for each node. Not one for the upstream as a
 * whole: nodes differ, and a common limit is either too high for the slow one or too low for the others.
 *
 * | key | written by | read by | lives |
 * |---|---|---|---|
 * | limits:<upstream> | collector, when a limit moves | every worker at its flush, status API, the next collector | over reloads and elections |
 */
import {
  type Gradient,
  type GradientOptions,
  limitInForce,
  newGradient,
  observe,
  Phase,
  step,
  wantsProbe,
} from "../core/gradient";
import { DEFAULT_CAPACITY, type NodeConfig, type UpstreamConfig } from "../core/model";
import { asNumber, asRecord, round } from "../core/values";
import { limitsKey, type NodeDelta, type NodeLimit } from "../core/wire";
import type { CollectorDeps, NodeRecord, UpstreamRecord } from "./state";

/** One node's limit, as the collector knows it. */
export interface AdaptiveLimit {
  options: GradientOptions;
  gradient: Gradient;
}

/** So many nodes of a hundred may be measured at a time, at least one: the others carry the load meanwhile. */
const MEASURED_PERCENT = 5;

function optionsOf(config: UpstreamConfig, node: NodeConfig): GradientOptions | undefined {
  const given = config.adaptive_limit;
  if (given === undefined) return undefined;
  const max = node.max_conns > 0 ? node.max_conns : (config.max_concurrency_per_node ?? DEFAULT_CAPACITY);
  return {
    min: Math.min(given.min, max),
    max,
    probe: given.probe_limit,
    probe_interval_ms: given.probe_interval_s * 1000,
    tolerance: given.tolerance,
  };
}

/** @returns undefined where the option is not set */
export function newAdaptiveLimit(config: UpstreamConfig, node: NodeConfig, now_ms: number): AdaptiveLimit | undefined {
  const options = optionsOf(config, node);
  return options === undefined ? undefined : { options, gradient: newGradient(options, now_ms) };
}

/** A worker's report of the node. */
export function noteDelta(limit: AdaptiveLimit, delta: NodeDelta): void {
  observe(limit.gradient, delta.ok, delta.hist, delta.sum_ms, delta.err + delta.fail);
}

/** What the collector before this one had found out: else every reload would measure all nodes anew. */
export function takeLimits(deps: CollectorDeps, upstream: UpstreamRecord, now_ms: number): void {
  const text =
    upstream.config.adaptive_limit === undefined ? undefined : deps.store.get(limitsKey(upstream.config.name));
  if (text === undefined) return;
  const limits = asRecord(deps.decode(`${text}`));
  if (limits === undefined) return;
  for (let i = 0; i < upstream.nodes.length; i++) {
    const adaptive = upstream.nodes[i].adaptive;
    const old = asRecord(limits[upstream.nodes[i].config.id]);
    const base_ms = asNumber(old?.base_ms);
    if (adaptive !== undefined && base_ms !== undefined) {
      const { gradient, options } = adaptive;
      gradient.base_ms = base_ms;
      gradient.limit = Math.min(options.max, Math.max(options.min, asNumber(old?.operating) ?? options.max));
      const longest_ms = now_ms + options.probe_interval_ms;
      gradient.probe_due_ms = Math.min(longest_ms, asNumber(old?.probe_due_ms) ?? longest_ms);
    }
  }
}

/** Those that are being measured, and those that wait longest for it, up to the number allowed. */
function chooseMeasured(nodes: NodeRecord[], now_ms: number): NodeRecord | undefined {
  let measured = 0;
  let next: NodeRecord | undefined;
  for (let i = 0; i < nodes.length; i++) {
    const gradient = nodes[i].adaptive?.gradient;
    if (gradient === undefined) continue;
    if (gradient.phase !== Phase.Steady) measured++;
    else if (nodes[i].detail.in_flight > 0 && wantsProbe(gradient, now_ms)) {
      const due_ms = next?.adaptive?.gradient.probe_due_ms ?? Infinity;
      if (gradient.probe_due_ms < due_ms) next = nodes[i];
    }
  }
  return measured < Math.max(1, Math.floor((nodes.length * MEASURED_PERCENT) / 100)) ? next : undefined;
}

function nodeLimit(adaptive: AdaptiveLimit): NodeLimit {
  const { gradient, options } = adaptive;
  const limit: NodeLimit = {
    limit: limitInForce(gradient, options),
    operating: round(gradient.limit, 10),
    probe_due_ms: gradient.probe_due_ms,
  };
  if (gradient.base_ms !== undefined) limit.base_ms = round(gradient.base_ms, 100);
  if (gradient.latency_ms !== undefined) limit.latency_ms = round(gradient.latency_ms, 100);
  if (gradient.phase !== Phase.Steady) limit.measuring = true;
  return limit;
}

/** Moves the limits of an upstream, and publishes them. Collector, each tick; does nothing where the option is not set. */
export function adaptLimits(deps: CollectorDeps, upstream: UpstreamRecord, now_ms: number): void {
  if (upstream.config.adaptive_limit === undefined) return;
  const nodes = upstream.nodes;
  const next = chooseMeasured(nodes, now_ms);
  const limits: Record<string, NodeLimit> = {};
  for (let i = 0; i < nodes.length; i++) {
    const adaptive = nodes[i].adaptive;
    if (adaptive !== undefined) {
      step(adaptive.gradient, adaptive.options, nodes[i].detail.in_flight, nodes[i] === next, now_ms);
      limits[nodes[i].config.id] = nodeLimit(adaptive);
    }
  }
  const text = deps.encode(limits);
  const key = limitsKey(upstream.config.name);
  if (text === undefined || deps.store.get(key) === text) return;
  if (!deps.store.set(key, text)) deps.onWarning("store_full", `no room for ${key}: adaptive limits stay as they are`);
}
