import { type Health, newHealth, newSeen, type Seen } from "../core/health/record";
import type { HealthEvent } from "../core/health/events";
import type { Evidence } from "../core/evidence";
import { type AdaptiveLimit, newAdaptiveLimit } from "./adaptive_limit";
import { type Backlog, newBacklog } from "./backlog";
import type { Gone } from "./gone";
import type { GoneUpstream } from "./gone_upstreams";
import type { SlotRepair } from "./slot_repair";
import type { AxConfig, NodeConfig, UpstreamConfig } from "../core/model";
import type { ProbeSource } from "../core/probe/view";
import type { Store } from "../core/store";
import { newNodeWindows, type NodeWindows } from "../core/windows";
import type { DetailNode } from "../core/wire";
import { type EventRecord, newEventRecord } from "./events";
import { newWills, type Wills } from "./wills";

/** What the collector needs of its surroundings: nginx, a test or the simulator. */
export interface CollectorDeps {
  store: Store;
  /** To JSON; undefined when the value cannot be written. */
  encode(this: void, value: unknown): string | undefined;
  /** From JSON; undefined when the text is not JSON. */
  decode(this: void, text: string): unknown;
  /** This worker's process. */
  pid: number;
  processAlive(this: void, pid: number): boolean;
  /** Whether the process of a number among those that hold slots (core/slots.ts) runs. Absent: nobody holds any. */
  holderAlive?(this: void, identity: string): boolean;
  /**
   * Lets the worker serve requests for a moment; called after every millisecond or so of work. May yield, as
   * in nginx's timers. Absent: a tick runs through.
   */
  pause?(this: void): void;
  /** A clock that runs on during a tick, ms from anywhere: for the length of its slices alone. Absent: work is counted. */
  runningMs?(this: void): number;
  /** Active probes; absent when no upstream has any. */
  probes?: ProbeSource;
  /** Wall clock, Unix seconds: only for the time that events show. Absent: 0. */
  wallS?(this: void): number;
  /** A node changed its state, or the pool did: to be logged. */
  onEvent?(this: void, upstream: string, event: HealthEvent): void;
  /** Something went wrong that the collector can live with: no room, or something unreadable. */
  onWarning(this: void, kind: "store_full" | "store_corrupt", message: string): void;
}

/** One node, as the collector knows it. */
export interface NodeRecord {
  config: NodeConfig;
  /** The id as JSON. */
  key: string;
  windows: NodeWindows;
  health: Health;
  seen: Seen;
  /** The machine it runs on, where that tells it from other nodes; else "". */
  host: string;
  /** Its host is under suspicion: HOST_SUSPECT_FROM of its nodes are out. */
  host_out: boolean;
  /** Start of its oldest request that waits for long already, over all workers, monotonic ms; 0 = none. */
  oldest_start_ms: number;
  /** Answers of any kind up to the last look that saw a new one, and when that was, monotonic ms. */
  answers_seen: number;
  answered_ms: number;
  /** Times it had been picked when it was last not silent. */
  picks_before: number;
  /** When the last connection failure was seen, monotonic ms. */
  failed_at_ms: number;
  /** Until then a score taken over stands while too little has been seen to judge by, monotonic ms. */
  held_until_ms: number;
  /** Answers in a row, none of them slower than `usual_ms` and none failed: a node that was slow has recovered. */
  good_run: number;
  /** Slower than this is unusual in this upstream, ms; 0 = not known yet. */
  usual_ms: number;
  /** What its windows say, as of the last look; undefined when they are empty or it is out of rotation. */
  evidence?: Evidence;
  /** The last load report, not yet read: as received, and when, monotonic ms; "" = none. */
  report_text: string;
  report_at_ms: number;
  /** Its adaptive limit; undefined without the option. */
  adaptive?: AdaptiveLimit;
  /** What is published; scores and totals live in here alone. */
  detail: DetailNode;
  /** `detail_text` shows the node's present state. */
  described: boolean;
  /** `"id":{…}` of detail:<upstream>. */
  detail_text: string;
  /** `"id":"…"` of windows:<upstream>; empty when there is nothing to write. */
  windows_text: string;
}

/** One upstream, as the collector knows it. */
export interface UpstreamRecord {
  config: UpstreamConfig;
  /** Ascending by id: the order of decisions must not depend on the configuration's. */
  nodes: NodeRecord[];
  by_id: Record<string, NodeRecord | undefined>;
  /** Whether its backlog is being drained; undefined without a queue. */
  backlog?: Backlog;
  /** What operators want of its nodes. */
  wills: Wills;
  /** Nodes that are no longer configured; known once the collector has read what was before it. */
  gone?: Gone;
  /** Something was reported since the last tick, or is in flight. */
  active: boolean;
  /** Nothing will change until something is reported: what was published can be published again. */
  settled: boolean;
  snapshot_body: string;
  /** The text of detail:<upstream> in pieces, the first of them the head: joined once, because it is long. */
  detail_parts: string[];
  /** Picks of all nodes in the short window. */
  picks: number;
  /** P99 of the typical node as of the last look, ms; 0 = not known. */
  typical_p99_ms: number;
  /** Requests in flight at a usual node in rotation: risen at once, fallen slowly. */
  usual_in_flight: number;
  events: EventRecord;
  /** Nodes on hosts under suspicion. */
  hosts_out: number;
  /** Since when too few nodes have been good, monotonic ms. */
  panic_since_ms?: number;
  panics_total: number;
  /** Where the next tick goes on describing nodes. */
  detail_cursor: number;
  /** Every node had its turn, or a state changed: detail:<upstream> is to be written. */
  detail_due: boolean;
  /** Which part of the nodes has its windows written next. */
  windows_part: number;
}

/**
 * The collector's memory. Made by the worker that has just been elected and dropped when it is no
 * longer; what has to survive is read back from the store at the first tick.
 */
export interface Collector {
  config: AxConfig;
  deps: CollectorDeps;
  upstreams: UpstreamRecord[];
  by_name: Record<string, UpstreamRecord | undefined>;
  generation: number;
  loaded: boolean;
  /** Nodes of all upstreams. */
  node_count: number;
  /** Begin of the tick that is under way, perhaps pausing; undefined between ticks. */
  busy_since_ms?: number;
  /** Nodes worked on since the last look at the clock; without one, since the last pause. */
  work: number;
  /** When the slice under way began, by `runningMs`. */
  slice_from_ms: number;
  /** Upstreams that are no longer configured. */
  gone_upstreams: GoneUpstream[];
  /** Gives back the slots of workers that died. */
  slots?: SlotRepair;
  /** A write failed in this tick, or in the last one: the warning has been given. */
  full: boolean;
  full_before: boolean;
}

/**
 * A node never seen before: in rotation, average score.
 *
 * @param key its id as JSON
 */
export function newNodeRecord(config: NodeConfig, upstream: UpstreamConfig, key: string, now_ms: number): NodeRecord {
  return {
    config,
    key,
    windows: newNodeWindows(upstream.window_short_s, upstream.window_long_s, now_ms),
    health: newHealth(now_ms),
    seen: newSeen(),
    host: "",
    host_out: false,
    oldest_start_ms: 0,
    answers_seen: 0,
    answered_ms: 0,
    picks_before: 0,
    failed_at_ms: 0,
    held_until_ms: 0,
    good_run: 0,
    usual_ms: 0,
    report_text: "",
    report_at_ms: 0,
    adaptive: newAdaptiveLimit(upstream, config, now_ms),
    detail: newDetail(config.weight, now_ms),
    described: false,
    detail_text: "",
    windows_text: "",
  };
}

function newDetail(base_weight: number, now_ms: number): DetailNode {
  return {
    state: "online",
    weight: base_weight,
    static_weight: base_weight,
    success: 1,
    reason: "",
    cause: "",
    since_ms: now_ms,
    ejections: 0,
    base_weight,
    score: 1,
    target_score: 1,
    score_at_ms: now_ms,
    share: 0,
    in_flight: 0,
    requests_per_s: 0,
    error_rate: 0,
    picks_total: 0,
    ok_total: 0,
    err_total: 0,
    fail_total: 0,
    aborted_total: 0,
    busy_total: 0,
  };
}

/** The label `host`, else the IP address; nothing where it is the same for all nodes: then it tells nothing. */
function nameHosts(nodes: NodeRecord[]): void {
  let distinct = false;
  for (let i = 0; i < nodes.length; i++) {
    const { labels, host } = nodes[i].config;
    const label: string | undefined = labels["host"];
    nodes[i].host = label ?? host;
    if (nodes[i].host !== nodes[0].host) distinct = true;
  }
  if (distinct) return;
  for (let i = 0; i < nodes.length; i++) nodes[i].host = "";
}

/** Making a node's windows takes as long as so many looks at it. */
const MAKING = 8;

/**
 * The upstream with every node fresh. May pause.
 */
export function newUpstreamRecord(collector: Collector, config: UpstreamConfig, now_ms: number): UpstreamRecord {
  const { deps } = collector;
  const by_id: Record<string, NodeRecord | undefined> = {};
  const nodes: NodeRecord[] = [];
  const count = config.nodes.length;
  for (let i = 0; i < count; i++) {
    const key = deps.encode(config.nodes[i].id) ?? '""';
    const node = newNodeRecord(config.nodes[i], config, key, now_ms);
    by_id[node.config.id] = node;
    nodes[i] = node;
    breathe(collector, MAKING);
  }
  nodes.sort((a, b) => (a.config.id < b.config.id ? -1 : a.config.id > b.config.id ? 1 : 0));
  nameHosts(nodes);
  return {
    config,
    nodes,
    by_id,
    backlog: newBacklog(config),
    wills: newWills(),
    active: true,
    settled: false,
    snapshot_body: "",
    detail_parts: [],
    picks: 0,
    typical_p99_ms: 0,
    usual_in_flight: 0,
    events: newEventRecord(),
    hosts_out: 0,
    panics_total: 0,
    detail_cursor: 0,
    detail_due: true,
    windows_part: 0,
  };
}

/** How long a tick works on between two pauses, ms: half of what a worker may be kept from its requests. */
const SLICE_MS = 1;

/** Looks at nodes, 1 to 4 µs each, between two looks at the clock. */
const WORK_PER_LOOK = 16;

/** Without a clock: looks at nodes between two pauses. */
const WORK_AT_A_TIME = 200;

/**
 * Counts work, and pauses when it is time to.
 *
 * @param nodes looked at since the last call
 */
export function breathe(collector: Collector, nodes: number): void {
  const { pause, runningMs } = collector.deps;
  collector.work += nodes;
  if (pause === undefined || collector.work < (runningMs === undefined ? WORK_AT_A_TIME : WORK_PER_LOOK)) return;
  collector.work = 0;
  if (runningMs !== undefined && runningMs() - collector.slice_from_ms < SLICE_MS) return;
  pause();
  if (runningMs !== undefined) collector.slice_from_ms = runningMs();
}
