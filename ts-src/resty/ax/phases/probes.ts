import {
  type Check,
  endCheck,
  lineUp,
  newProber,
  type Prober,
  type Probes,
  probeSource,
  restoreProbes,
  takeCheck,
} from "../collector/prober";
import { asRecord } from "../core/values";
import type { Worker } from "../dataplane/worker";
import { nowMs } from "../nginx/clock";
import { decode } from "../nginx/json";
import { makeCheck } from "../nginx/probe/check";
import { type CheckSource, startRunner } from "../nginx/probe/runner";
import { fault } from "./faults";

/** Active probes: they run in the worker that is the collector, as long as it is. */

/** A runner looks every 50 ms: one that has not looked for so long has ended. */
const LOST_MS = 5000;

function checkSource(probes: Probes): CheckSource<Check> {
  const { prober } = probes;
  probes.runner++;
  const mine = probes.runner;
  return {
    wanted: () => probes.wanted && probes.runner === mine,
    prepare: (now_ms) => {
      probes.seen_ms = now_ms;
      return lineUp(prober, now_ms);
    },
    take: (now_ms) => takeCheck(prober, now_ms),
    run: (check) => {
      const [result, err] = makeCheck(check.job);
      endCheck(prober, check, result, nowMs());
      if (err !== undefined) {
        const { upstream, node } = check.job;
        fault("probe", `no connection for a check of ${node} (upstream ${upstream}): ${err}`, nowMs());
      }
    },
    abandon: (check, err) => {
      endCheck(prober, check, undefined, nowMs());
      if (err !== undefined) fault("probe", err, nowMs());
    },
    timeoutMs: (check) => check.job.timeout_ms,
    onRefused: (err) => {
      if (probes.wanted) fault("probe", `nginx refused the timer for checks: ${err}`, nowMs());
    },
  };
}

/** What the collector before had found, before this one writes anything. */
function restoreAll(worker: Worker, prober: Prober, now_ms: number): void {
  for (const upstream of prober.upstreams) {
    const text = worker.store.get(`detail:${upstream.name}`);
    const [detail] = decode(`${text ?? ""}`);
    const nodes = asRecord(asRecord(detail)?.nodes);
    if (nodes !== undefined) restoreProbes(prober, upstream.name, nodes, now_ms);
  }
}

/**
 * This worker has just become the collector.
 * @returns undefined when no upstream has probes
 */
export function startProbes(worker: Worker, now_ms: number): Probes | undefined {
  const prober = newProber(worker.config, now_ms);
  if (prober === undefined) return undefined;
  restoreAll(worker, prober, now_ms);
  const probes: Probes = { prober, source: probeSource(prober), wanted: true, runner: 0, seen_ms: now_ms };
  startRunner(checkSource(probes));
  return probes;
}

/** Called before each of the collector's rounds: begins anew when checks have stopped, as after a refused timer. */
export function keepProbing(probes: Probes | undefined, now_ms: number): void {
  if (probes === undefined || now_ms - probes.seen_ms < LOST_MS) return;
  probes.seen_ms = now_ms;
  startRunner(checkSource(probes));
}

/** This worker is no longer the collector, or ends: checks under way end at once, without a result. */
export function stopProbes(probes: Probes | undefined): void {
  if (probes !== undefined) probes.wanted = false;
}
