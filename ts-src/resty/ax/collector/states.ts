import { transition } from "../core/health/machine";
import { count, HOST_SUSPECT_FROM, isPanic, mayEject, type PoolCounts } from "../core/health/pool_rules";
import { startRamp } from "../core/health/ramp";
import { forgetSeen } from "../core/health/record";
import { isUsable } from "../core/health/states";
import { clearNode, judged } from "../core/windows";
import { trialKey } from "../core/wire";
import { emit, emitTransition } from "./events";
import { takeReport } from "./reports";
import { breathe, type Collector, type NodeRecord, type UpstreamRecord } from "./state";
import { willOf } from "./wills";

/** Moves the nodes' states: what the machine of core/health needs to see, and what follows from its decisions. */

/** Silence shorter than this is no sign of anything, however fast answers usually are. */
const SILENCE_FROM_MS = 2000;

/** So many times the usual P99 without an answer is no slow request any more. */
const SILENCE_RATIO = 10;

/** How long ago an answer may be that a look is the first to see: a look and a flush, usually. */
const ANSWER_AGE_MS = 500;

/** Below it, P99s differ by scheduling and pauses: nobody is called slow for less than 3 × this. As for probes. */
const SLOW_FLOOR_MS = 10;

/** A P99 of fewer answers is just the slowest of them, which may be an accident. */
const SLOW_SAMPLES = 100;

/** One look at every node of the upstream, and at the pool as a whole. */
export function moveStates(collector: Collector, upstream: UpstreamRecord, now_ms: number): void {
  const nodes = upstream.nodes;
  const counts: PoolCounts = { total: 0, usable: 0, good: 0, good_backups: 0 };
  for (let i = 0; i < nodes.length; i++) countNode(counts, nodes[i], 1);
  const limit_ms = silenceLimit(upstream, counts.usable, now_ms);
  for (let i = 0; i < nodes.length; i++) {
    breathe(collector, 0.5);
    moveState(collector, upstream, nodes[i], counts, limit_ms, now_ms);
  }
  if (counts.usable === 0 && counts.total > 0) releaseOne(collector, upstream, counts, now_ms);
  if (counts.usable < counts.total || upstream.hosts_out > 0) watchHosts(collector, upstream, now_ms);
  watchPanic(collector, upstream, counts, now_ms);
}

function countNode(counts: PoolCounts, node: NodeRecord, sign: 1 | -1): void {
  count(counts, node.health.state, node.health.kept !== undefined, node.config.backup, sign);
}

/**
 * From what age on an unanswered request tells against its node. Where half of the nodes have such requests, they are
 * long by nature (streams), and their age tells nothing.
 */
function silenceLimit(upstream: UpstreamRecord, usable: number, now_ms: number): number {
  if (upstream.typical_p99_ms <= 0) return Infinity;
  const limit_ms = Math.max(SILENCE_FROM_MS, SILENCE_RATIO * upstream.typical_p99_ms);
  let silent = 0;
  for (let i = 0; i < upstream.nodes.length; i++) {
    const oldest_ms = upstream.nodes[i].oldest_start_ms;
    if (oldest_ms > 0 && now_ms - oldest_ms > limit_ms) silent++;
  }
  return silent > 1 && silent * 2 >= usable ? Infinity : limit_ms;
}

function look(
  collector: Collector,
  upstream: UpstreamRecord,
  node: NodeRecord,
  limit_ms: number,
  now_ms: number,
): void {
  const { seen, windows } = node;
  const short = windows.short.total;
  seen.judged = judged(short);
  seen.failed = short.err + short.fail;
  seen.young = now_ms - windows.short.since_ms < upstream.config.window_short_s * 1000;
  seen.in_flight = node.detail.in_flight;
  seen.silence_limit_ms = limit_ms;
  lookForAnswers(collector, upstream, node, now_ms);
  seen.busy_share = short.busy > 0 ? short.busy / (short.busy + seen.judged) : 0;
  const typical_ms = Math.max(upstream.typical_p99_ms, SLOW_FLOOR_MS);
  const knows = upstream.typical_p99_ms > 0 && windows.long.total.ok >= SLOW_SAMPLES;
  seen.p99_ratio = knows ? (node.evidence?.p99_ms ?? 0) / typical_ms : 0;
  seen.panic = upstream.panic_since_ms !== undefined;
  if (upstream.config.orca) takeReport(collector, node, upstream.config, now_ms);
  seen.probe = collector.deps.probes?.view(upstream.config.name, node.config.id);
  seen.will = upstream.wills.count > 0 ? willOf(upstream.wills, node.config.id, now_ms) : undefined;
}

/**
 * What each worker says of its oldest request, against what the node answered to others: a worker whose requests there
 * are all long sends it no more, and hears nothing.
 */
function lookForAnswers(collector: Collector, upstream: UpstreamRecord, node: NodeRecord, now_ms: number): void {
  const { seen, health, detail } = node;
  const answers = detail.ok_total + detail.err_total + detail.busy_total;
  if (answers !== node.answers_seen) {
    node.answers_seen = answers;
    node.answered_ms = now_ms - ANSWER_AGE_MS;
  }
  seen.oldest_ms =
    node.oldest_start_ms > 0 ? Math.max(0, now_ms - Math.max(node.oldest_start_ms, node.answered_ms)) : 0;
  if (seen.oldest_ms <= seen.silence_limit_ms) node.picks_before = detail.picks_total;
  seen.silent_picks = detail.picks_total - node.picks_before;
  const asks = health.live === true && health.silent_since_ms !== undefined;
  const key = trialKey(upstream.config.name, node.config.id, health.trial);
  if (!asks || collector.deps.store.get(key) === undefined) seen.trial_taken_ms = 0;
  else if (seen.trial_taken_ms === 0) seen.trial_taken_ms = now_ms;
}

function moveState(
  collector: Collector,
  upstream: UpstreamRecord,
  node: NodeRecord,
  counts: PoolCounts,
  limit_ms: number,
  now_ms: number,
): void {
  look(collector, upstream, node, limit_ms, now_ms);
  const { seen, health } = node;
  seen.may_eject = mayEject(counts, upstream.config.max_ejected_share, node.config.backup);
  const next = transition(health, seen, node.config, upstream.config, now_ms);
  if (next === health) return;
  countNode(counts, node, -1);
  node.health = next;
  countNode(counts, node, 1);
  const rests = next.state === "maintenance";
  if (rests !== (health.state === "maintenance")) {
    collector.deps.probes?.rest(upstream.config.name, node.config.id, rests);
  }
  if (next.state !== health.state) changed(collector, upstream, node, health.state, now_ms);
  // Another will may mean the same state, for other reasons.
  else if (seen.will !== undefined) node.described = false;
  if (health.trial > 0 && (next.state !== health.state || next.trial !== health.trial)) {
    collector.deps.store.remove(trialKey(upstream.config.name, node.config.id, health.trial));
  }
  // Numbers begin anew when a node is new: a key of its former life must not be in the way.
  if (next.trial > health.trial)
    collector.deps.store.remove(trialKey(upstream.config.name, node.config.id, next.trial));
  if (next.state === "probing" && next.trial !== health.trial) {
    forgetSeen(seen);
    if (next.live !== true) collector.deps.probes?.askTrial(upstream.config.name, node.config.id);
  }
}

function changed(
  collector: Collector,
  upstream: UpstreamRecord,
  node: NodeRecord,
  from: NodeRecord["health"]["state"],
  now_ms: number,
): void {
  node.described = false;
  emitTransition(collector, upstream, node, from, now_ms);
  if (isUsable(from) !== isUsable(node.health.state)) startAnew(node, now_ms);
}

/** Out or back: what was held against the node (or in its favour) is of another time. */
function startAnew(node: NodeRecord, now_ms: number): void {
  forgetSeen(node.seen);
  clearNode(node.windows, now_ms);
  node.held_until_ms = 0;
  node.seen.busy_until_ms = 0;
}

/** Every node is out, e.g. because the configuration took away the last one: the next to return does so now. */
function releaseOne(collector: Collector, upstream: UpstreamRecord, counts: PoolCounts, now_ms: number): void {
  let first: NodeRecord | undefined;
  let first_ms = Infinity;
  for (let i = 0; i < upstream.nodes.length; i++) {
    const node = upstream.nodes[i];
    const state = node.health.state;
    const back_ms = state === "probing" ? 0 : (node.health.until_ms ?? Infinity);
    if ((state === "ejected" || state === "probing") && (first === undefined || back_ms < first_ms)) {
      first = node;
      first_ms = back_ms;
    }
  }
  if (first === undefined) return;
  const from = first.health.state;
  countNode(counts, first, -1);
  first.health = startRamp(first.health, "back early, every node was out", upstream.config, now_ms);
  countNode(counts, first, 1);
  changed(collector, upstream, first, from, now_ms);
}

function isOut(node: NodeRecord): boolean {
  const { state, by } = node.health;
  return (state === "ejected" || state === "probing") && by !== "host";
}

/** Two nodes of one host are out at once: the host is to blame, or what runs on it has one cause. */
function watchHosts(collector: Collector, upstream: UpstreamRecord, now_ms: number): void {
  const out: Record<string, number> = {};
  for (let i = 0; i < upstream.nodes.length; i++) {
    const { host } = upstream.nodes[i];
    if (host !== "" && isOut(upstream.nodes[i])) out[host] = (out[host] ?? 0) + 1;
  }
  const told: Record<string, boolean | undefined> = {};
  upstream.hosts_out = 0;
  for (let i = 0; i < upstream.nodes.length; i++) {
    const node = upstream.nodes[i];
    const is_out = (out[node.host] ?? 0) >= HOST_SUSPECT_FROM;
    if (is_out) upstream.hosts_out++;
    const reason = `${out[node.host] ?? 0} nodes of host ${node.host} are out`;
    node.seen.host_out = is_out && upstream.config.eject_host ? reason : undefined;
    if (node.host !== "" && is_out !== node.host_out && told[node.host] !== true) {
      told[node.host] = true;
      const text = is_out ? `${reason}: the host may be to blame` : `fewer than 2 nodes of host ${node.host} are out`;
      const numbers = { out: out[node.host] ?? 0 };
      const [from, to] = is_out ? ["trusted", "suspect"] : ["suspect", "trusted"];
      emit(collector, upstream, "", from, to, text, numbers, now_ms);
    }
    node.host_out = is_out;
  }
}

function watchPanic(collector: Collector, upstream: UpstreamRecord, counts: PoolCounts, now_ms: number): void {
  const was = upstream.panic_since_ms !== undefined;
  // Where requests are refused meanwhile, nothing would show that nodes are good again.
  const goes_on = was && upstream.config.panic !== "fail";
  const panic = isPanic(counts, upstream.config.panic_threshold, goes_on);
  if (panic === was) return;
  upstream.panic_since_ms = panic ? now_ms : undefined;
  if (panic) upstream.panics_total++;
  const reason = `${counts.good} good nodes of ${counts.total}`;
  const [from, to] = panic ? ["normal", "panic"] : ["panic", "normal"];
  emit(collector, upstream, "", from, to, reason, { good: counts.good, total: counts.total }, now_ms);
}
