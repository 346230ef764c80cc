import type { AxConfig, NodeConfig, UpstreamConfig } from "../core/model";
import type { CheckKind, ProbeConfig } from "../core/probe/config";
import { type HttpPlan, planHttp } from "../core/probe/http";
import { restoreProbe } from "../core/probe/record";
import { newNodeProbe, type NodeProbe } from "../core/probe/results";
import { newRound, offsetPlaceMs, placeMs, type Round } from "../core/probe/rounds";
import { newTally, type ProbeTally } from "../core/probe/tally";
import type { ProbeSource } from "../core/probe/view";

/** What prober.ts keeps: written by it alone, lives as long as it does. */

/** One node of one upstream, as it is checked. */
export interface Target {
  upstream: UpstreamTarget;
  node: NodeConfig;
  probe: NodeProbe;
  /** A check of the kind is waiting or under way: not another one until it has ended. */
  tcp_busy: boolean;
  http_busy: boolean;
  /** The last check had no answer in time: it may wait for places with others of its kind only. */
  hanging: boolean;
  /** In maintenance: not checked. */
  rests: boolean;
}

/** First in, first out; entries before `first` are gone. */
export interface Line {
  targets: Target[];
  kinds: CheckKind[];
  first: number;
}

export interface UpstreamTarget {
  name: string;
  config: ProbeConfig;
  plan?: HttpPlan;
  targets: Target[];
  by_id: Record<string, Target | undefined>;
  tcp?: Round;
  http?: Round;
  /** Asked for by the collector: before all others. */
  trials: Line;
  /** Due, of nodes that answered last time. */
  waiting: Line;
  /** Due, of nodes that did not: they take half of the places at most, so that they delay no others. */
  waiting_hanging: Line;
  running: number;
  running_hanging: number;
  hanging_last: boolean;
  news: boolean;
  tally: ProbeTally;
}

export interface Prober {
  upstreams: UpstreamTarget[];
  by_name: Record<string, UpstreamTarget | undefined>;
  running: number;
  /** Where takeCheck looks first: the upstreams take turns. */
  turn: number;
}

/** The probes of the worker that is the collector: made and dropped together with the collector. */
export interface Probes {
  prober: Prober;
  source: ProbeSource;
  /** Cleared when the worker is no longer the collector: checks end. */
  wanted: boolean;
  /** Which runner is the present one: of two, the older ends. */
  runner: number;
  /** When a runner last looked for checks, monotonic ms. */
  seen_ms: number;
}

function newLine(): Line {
  return { targets: [], kinds: [], first: 0 };
}

export function isEmpty(line: Line): boolean {
  return line.first >= line.targets.length;
}

export function push(line: Line, target: Target, kind: CheckKind): void {
  line.targets[line.targets.length] = target;
  line.kinds[line.kinds.length] = kind;
}

/** Forgets what is gone once it is more than what is left. */
export function compact(line: Line): void {
  if (line.first < 64 || line.first * 2 < line.targets.length) return;
  const left = line.targets.length - line.first;
  const targets: Target[] = [];
  const kinds: CheckKind[] = [];
  for (let i = 0; i < left; i++) {
    targets[i] = line.targets[line.first + i];
    kinds[i] = line.kinds[line.first + i];
  }
  line.targets = targets;
  line.kinds = kinds;
  line.first = 0;
}

/** The two kinds of rounds of an upstream. Places by upstream and node: a node of two upstreams is checked apart. */
function planRounds(upstream: UpstreamTarget, now_ms: number): void {
  const { config, targets } = upstream;
  const tcp_ms = Math.floor(config.tcp_interval_s * 1000 + 0.5);
  const tcp_places: number[] = [];
  const http_places: number[] = [];
  const http_ms = config.http === undefined ? 0 : Math.floor(config.http.interval_s * 1000 + 0.5);
  for (let i = 0; i < targets.length; i++) {
    const name = `${upstream.name}\n${targets[i].node.id}`;
    if (tcp_ms > 0) tcp_places[i] = placeMs(name, tcp_ms);
    if (http_ms > 0) http_places[i] = tcp_ms > 0 ? offsetPlaceMs(name, tcp_ms, http_ms) : placeMs(name, http_ms);
  }
  if (tcp_ms > 0) upstream.tcp = newRound(tcp_places, tcp_ms, now_ms);
  if (http_ms > 0) upstream.http = newRound(http_places, http_ms, now_ms);
}

function newUpstreamTarget(given: UpstreamConfig, config: ProbeConfig, now_ms: number): UpstreamTarget {
  const upstream: UpstreamTarget = {
    name: given.name,
    config,
    plan: config.http === undefined ? undefined : planHttp(config.http, given.name),
    targets: [],
    by_id: {},
    trials: newLine(),
    waiting: newLine(),
    waiting_hanging: newLine(),
    running: 0,
    running_hanging: 0,
    hanging_last: false,
    news: true,
    tally: newTally(now_ms),
  };
  for (let i = 0; i < given.nodes.length; i++) {
    const node = given.nodes[i];
    // Taken out by the operator, perhaps because it is being repaired: left in peace.
    if (node.down) continue;
    const target: Target = {
      upstream,
      node,
      probe: newNodeProbe(),
      tcp_busy: false,
      http_busy: false,
      hanging: false,
      rests: false,
    };
    upstream.targets[upstream.targets.length] = target;
    upstream.by_id[node.id] = target;
  }
  planRounds(upstream, now_ms);
  return upstream;
}

/**
 * @param now_ms monotonic ms; the first checks are due within one interval from here, not at once
 * @returns undefined when no upstream has probes
 */
export function newProber(config: AxConfig, now_ms: number): Prober | undefined {
  const prober: Prober = { upstreams: [], by_name: {}, running: 0, turn: 0 };
  const names: string[] = [];
  for (const name in config.upstreams) names[names.length] = name;
  names.sort();
  for (let i = 0; i < names.length; i++) {
    const given = config.upstreams[names[i]];
    if (given.probe !== undefined) {
      const upstream = newUpstreamTarget(given, given.probe, now_ms);
      prober.upstreams[prober.upstreams.length] = upstream;
      prober.by_name[given.name] = upstream;
    }
  }
  return prober.upstreams.length === 0 ? undefined : prober;
}

/**
 * Takes over what the collector before had found of an upstream's nodes.
 * @param details nodes of detail:<upstream>, from the store: not trusted
 */
export function restoreProbes(prober: Prober, name: string, details: Record<string, unknown>, now_ms: number): void {
  const upstream = prober.by_name[name];
  if (upstream === undefined) return;
  for (let i = 0; i < upstream.targets.length; i++) {
    const target = upstream.targets[i];
    restoreProbe(target.probe, details[target.node.id], upstream.config, now_ms);
  }
}
