import type { AxConfig } from "../core/model";
import { sumInFlight } from "./in_flight";
import { takeDeltas } from "./ingest";
import { judgeUpstream } from "./judge";
import { adaptLimits, takeLimits } from "./adaptive_limit";
import { drainBacklog, takeDrain, type Waiting } from "./backlog";
import { composeUpstream } from "./compose";
import { clearGone } from "./gone";
import { clearGoneUpstream, findGoneUpstreams } from "./gone_upstreams";
import { publish } from "./publish";
import { addUpstream, newSlotRepair, repairSlots, type SlotRepair } from "./slot_repair";
import { breathe, type Collector, type CollectorDeps, newUpstreamRecord } from "./state";
import { takeOver } from "./takeover";
import { refreshWills } from "./wills";

export type { Collector, CollectorDeps } from "./state";

/** A tick that has not come to its end for so long was killed (an error in a pause): the next one goes ahead. */
const STUCK_MS = 5000;

/**
 * The collector: from the workers' counters to weights and node states. It runs in one elected worker
 * (election.ts), in the timer phase, and is pure: store, clock and JSON come in by parameter, so that a
 * simulator can run it in virtual time. docs/collector.md describes what it does.
 *
 * Made anew by every worker that becomes the collector, also by one that was it before: what has to
 * survive is in the store, and is read at the first tick.
 *
 * @param config the validated configuration; not changed
 * @param deps its surroundings
 */
export function newCollector(config: AxConfig, deps: CollectorDeps): Collector {
  return {
    config,
    deps,
    upstreams: [],
    by_name: {},
    generation: 0,
    loaded: false,
    node_count: 0,
    gone_upstreams: [],
    busy_since_ms: undefined,
    work: 0,
    slice_from_ms: 0,
    full: false,
    full_before: false,
  };
}

/**
 * One round, about every `collector_interval_ms`, only in the worker that `isElected` has just named.
 * Takes the workers' reports out of the store, moves states and scores, writes snapshots. Uneven
 * intervals and gaps do no harm. Does not throw on anything that is or is not in the store. With `pause`
 * it may yield; called again meanwhile, it does nothing.
 *
 * @param now_ms monotonic ms
 */
export function tick(collector: Collector, now_ms: number): void {
  if (collector.busy_since_ms !== undefined && now_ms - collector.busy_since_ms < STUCK_MS) return;
  collector.busy_since_ms = now_ms;
  // A pause is for long ticks: the work of many short ones does not add up to one.
  collector.work = 0;
  collector.slice_from_ms = collector.deps.runningMs?.() ?? 0;
  if (!collector.loaded) load(collector, now_ms);
  for (let i = 0; i < collector.upstreams.length; i++) collector.upstreams[i].active = false;
  takeDeltas(collector, now_ms);
  sumInFlight(collector, now_ms);
  const waiting: Waiting = {
    breathe: (nodes) => {
      breathe(collector, nodes);
    },
  };
  for (let i = 0; i < collector.upstreams.length; i++) {
    const upstream = collector.upstreams[i];
    if (collector.deps.probes?.takeNews(upstream.config.name) === true) upstream.active = true;
    const moved = refreshWills(collector.deps, upstream.config.name, upstream.nodes, upstream.wills, now_ms);
    if (moved || upstream.active || !upstream.settled) {
      judgeUpstream(collector, upstream, now_ms);
      composeUpstream(collector, upstream, now_ms);
    }
    adaptLimits(collector.deps, upstream, now_ms);
    drainBacklog(collector, upstream, waiting, now_ms);
  }
  publish(collector, now_ms);
  repair(collector, now_ms);
  collector.busy_since_ms = undefined;
}

function repairOf(collector: Collector, holderAlive: (this: void, identity: string) => boolean): SlotRepair {
  const slots = newSlotRepair(collector.deps.store, holderAlive);
  for (let i = 0; i < collector.upstreams.length; i++) {
    const upstream = collector.upstreams[i];
    const ids: string[] = [];
    for (let k = 0; k < upstream.nodes.length; k++) ids[k] = upstream.nodes[k].config.id;
    addUpstream(slots, upstream.config.name, ids, upstream.gone?.ids ?? []);
  }
  // Workers that are shutting down may have requests there.
  for (const { name, ids } of collector.gone_upstreams) addUpstream(slots, name, [], ids);
  return slots;
}

function repair(collector: Collector, now_ms: number): void {
  const holders = collector.slots?.holders ?? [];
  clearGoneUpstream(collector.deps, collector.gone_upstreams, collector.config.upstreams, holders, now_ms);
  if (collector.slots === undefined) return;
  repairSlots(collector.slots, () => {
    breathe(collector, 1);
  });
  for (let i = 0; i < collector.upstreams.length; i++) {
    const { gone } = collector.upstreams[i];
    if (gone !== undefined && gone.ids.length > 0) {
      clearGone(collector.deps, gone, collector.slots.holders, now_ms);
      breathe(collector, 1);
    }
  }
}

function load(collector: Collector, now_ms: number): void {
  const names: string[] = [];
  for (const name in collector.config.upstreams) names.push(name);
  // The same order everywhere: records have none of their own in Lua.
  names.sort();
  // Not what a tick that was killed here had counted.
  collector.node_count = 0;
  for (let i = 0; i < names.length; i++) {
    const upstream = newUpstreamRecord(collector, collector.config.upstreams[names[i]], now_ms);
    upstream.windows_part = i;
    collector.upstreams[i] = upstream;
    collector.node_count += upstream.nodes.length;
    collector.by_name[names[i]] = upstream;
  }
  takeOver(collector, now_ms);
  collector.gone_upstreams = findGoneUpstreams(collector.deps, collector.config.upstreams, now_ms);
  for (let i = 0; i < collector.upstreams.length; i++) {
    takeLimits(collector.deps, collector.upstreams[i], now_ms);
    takeDrain(collector.deps, collector.upstreams[i], now_ms);
  }
  const holderAlive = collector.deps.holderAlive;
  if (holderAlive !== undefined) collector.slots = repairOf(collector, holderAlive);
  collector.loaded = true;
}
