import type { CheckKind } from "../core/probe/config";
import type { CheckJob } from "../core/probe/job";
import { probeRecord } from "../core/probe/record";
import { type CheckResult, forgetProbe, record } from "../core/probe/results";
import { nextDueMs, type Round, takeDue } from "../core/probe/rounds";
import { countCheck, type ProbeSummary, summarize } from "../core/probe/tally";
import type { ProbeSource } from "../core/probe/view";
import { compact, isEmpty, type Line, type Prober, push, type Target, type UpstreamTarget } from "./probe_targets";

/**
 * Which nodes are checked when, how many at once, and what came of it. It makes no connection itself: whoever drives it
 * (nginx/probe/runner.ts; a test; a simulator) takes jobs from it, makes the checks, and brings the results back. It
 * lives in the worker that is the collector, as long as it is; its successor reads what it found from detail:<upstream>.
 */

export { newProber, type Prober, type Probes, restoreProbes } from "./probe_targets";

/** Most checks under way over all upstreams: each is a connection of the worker's. */
export const MAX_CONCURRENT_TOTAL = 256;

/** A check under way. */
export interface Check {
  job: CheckJob;
  target: Target;
  hanging: boolean;
  started_ms: number;
}

function isBusy(target: Target, kind: CheckKind): boolean {
  return kind === "tcp" ? target.tcp_busy : target.http_busy;
}

function setBusy(target: Target, kind: CheckKind, busy: boolean): void {
  if (kind === "tcp") target.tcp_busy = busy;
  else target.http_busy = busy;
}

function takeRound(upstream: UpstreamTarget, round: Round, kind: CheckKind, now_ms: number): void {
  let index = takeDue(round, now_ms);
  while (index !== undefined) {
    const target = upstream.targets[index];
    if (!target.rests && !isBusy(target, kind)) {
      setBusy(target, kind, true);
      push(target.hanging ? upstream.waiting_hanging : upstream.waiting, target, kind);
    }
    index = takeDue(round, now_ms);
  }
}

/**
 * Puts the nodes whose time has come in line. A node is in line once, however long the line.
 * @returns when the next one is due, monotonic ms
 */
export function lineUp(prober: Prober, now_ms: number): number {
  let next_ms = Infinity;
  for (let i = 0; i < prober.upstreams.length; i++) {
    const upstream = prober.upstreams[i];
    if (upstream.tcp !== undefined) {
      takeRound(upstream, upstream.tcp, "tcp", now_ms);
      next_ms = Math.min(next_ms, nextDueMs(upstream.tcp));
    }
    if (upstream.http !== undefined) {
      takeRound(upstream, upstream.http, "http", now_ms);
      next_ms = Math.min(next_ms, nextDueMs(upstream.http));
    }
  }
  return next_ms;
}

function start(prober: Prober, upstream: UpstreamTarget, line: Line, now_ms: number): Check {
  const target = line.targets[line.first];
  const kind = line.kinds[line.first];
  line.first++;
  compact(line);
  const { config, plan } = upstream;
  const { node } = target;
  const http = kind === "http" ? config.http : undefined;
  const other_port = http !== undefined && http.port > 0 && node.port > 0;
  const job: CheckJob = {
    kind,
    upstream: upstream.name,
    node: node.id,
    host: node.host,
    port: other_port ? http.port : node.port,
    timeout_ms: config.timeout_s * 1000,
    config,
    http,
    plan: kind === "http" ? plan : undefined,
  };
  const hanging = line === upstream.waiting_hanging;
  upstream.hanging_last = hanging;
  prober.running++;
  upstream.running++;
  if (hanging) upstream.running_hanging++;
  return { job, target, hanging, started_ms: now_ms };
}

/** The line whose first is next; undefined when nobody waits or no place is free. */
function nextLine(upstream: UpstreamTarget): Line | undefined {
  if (upstream.running >= upstream.config.max_concurrent) return undefined;
  if (!isEmpty(upstream.trials)) return upstream.trials;
  const for_hanging = Math.max(1, Math.floor(upstream.config.max_concurrent / 2));
  const may_hang = !isEmpty(upstream.waiting_hanging) && upstream.running_hanging < for_hanging;
  // With a single place they take turns with the others.
  const its_turn = upstream.config.max_concurrent > 1 || !upstream.hanging_last || isEmpty(upstream.waiting);
  if (may_hang && its_turn) return upstream.waiting_hanging;
  return isEmpty(upstream.waiting) ? undefined : upstream.waiting;
}

/**
 * Takes the next check that may begin now. Called until it returns undefined; each one must come back by `endCheck`.
 * @param now_ms monotonic ms
 */
export function takeCheck(prober: Prober, now_ms: number): Check | undefined {
  if (prober.running >= MAX_CONCURRENT_TOTAL) return undefined;
  const count = prober.upstreams.length;
  for (let i = 0; i < count; i++) {
    const upstream = prober.upstreams[(prober.turn + i) % count];
    const line = nextLine(upstream);
    if (line !== undefined) {
      prober.turn = (prober.turn + i + 1) % count;
      return start(prober, upstream, line, now_ms);
    }
  }
  return undefined;
}

/**
 * Takes a check's result in.
 * @param result undefined: nothing was found out, because the gateway itself stood still or the check broke
 * @param now_ms monotonic ms
 */
export function endCheck(prober: Prober, check: Check, result: CheckResult | undefined, now_ms: number): void {
  const { target, job } = check;
  const { upstream, probe } = target;
  prober.running--;
  upstream.running--;
  if (check.hanging) upstream.running_hanging--;
  setBusy(target, job.kind, false);
  upstream.news = true;
  if (result === undefined) {
    countCheck(upstream.tally, undefined, 0, now_ms);
    // A trial goes on until the node's next check. Not at once: what kept this one from its result may last.
    return;
  }
  target.hanging = !result.ok && result.took_ms >= job.timeout_ms / 2;
  record(probe, job.kind, result, job.config, now_ms);
  countCheck(upstream.tally, result.ok, result.took_ms, now_ms);
  const is_main = job.kind === "http" || upstream.http === undefined;
  if (is_main && probe.view.trial === "running") probe.view.trial = result.ok ? "pass" : "fail";
}

/** The check that says most: HTTP where there is one. One that waits or is under way already will do. */
function lineUpTrial(upstream: UpstreamTarget, target: Target): void {
  const kind = upstream.http === undefined ? "tcp" : "http";
  if (isBusy(target, kind)) return;
  setBusy(target, kind, true);
  push(upstream.trials, target, kind);
}

/** What the collector sees of the probes. */
export function probeSource(prober: Prober): ProbeSource {
  return {
    view: (upstream, node) => prober.by_name[upstream]?.by_id[node]?.probe.view,
    record: (upstream, node) => {
      const target = prober.by_name[upstream]?.by_id[node];
      return target === undefined ? undefined : probeRecord(target.probe);
    },
    summary: (name, now_ms) => {
      const upstream = prober.by_name[name];
      if (upstream === undefined) return undefined;
      const summary: ProbeSummary = summarize(upstream.tally, now_ms);
      summary.running = upstream.running;
      summary.waiting = waitingCount(upstream);
      return summary;
    },
    askTrial: (name, node) => {
      const upstream = prober.by_name[name];
      const target = upstream?.by_id[node];
      if (upstream === undefined || target === undefined) return false;
      if (target.probe.view.trial === "running") return true;
      target.probe.view.trial = "running";
      lineUpTrial(upstream, target);
      return true;
    },
    rest: (name, node, rests) => {
      const target = prober.by_name[name]?.by_id[node];
      if (target === undefined || target.rests === rests) return;
      target.rests = rests;
      if (!rests) forgetProbe(target.probe);
    },
    takeNews: (name) => {
      const upstream = prober.by_name[name];
      if (upstream === undefined) return false;
      const news = upstream.news;
      upstream.news = false;
      return news;
    },
  };
}

/** Checks waiting for a place, of all kinds. */
function waitingCount(upstream: UpstreamTarget): number {
  const { trials, waiting, waiting_hanging } = upstream;
  const lines = [trials, waiting, waiting_hanging];
  let count = 0;
  for (let i = 0; i < lines.length; i++) count += lines[i].targets.length - lines[i].first;
  return count;
}
