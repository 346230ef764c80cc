import { Agent } from "node:http";
import { setImmediate as yieldToEvents } from "node:timers/promises";
import { http } from "./http";
import { pause } from "./wait";
import { type LoadResult, QUANTILES } from "./wrk";

export interface OpenLoopOptions {
  url: string;
  /** Requests a second; one Node process keeps up with about 2000. */
  rate: number;
  /** Requests in all. */
  count: number;
  /** Ends it earlier: no more requests are sent. */
  signal?: AbortSignal;
  /** No answer by then counts as a time-out, ms. */
  timeout_ms?: number;
  headers?: Record<string, string>;
  /** Sees every answer: status, headers, text. */
  onAnswer?: (answer: { status: number; headers: Record<string, unknown>; text: string }, number: number) => void;
  /** Path and query of a request, by its number from 0 on, after `url`; nothing by default. */
  pathOf?: (number: number) => string;
}

export interface OpenLoopResult extends LoadResult {
  /** Latest a request was sent after its time, ms: large means the generator did not keep up. */
  worst_lag_ms: number;
  /** Answers by status. */
  by_status: Record<string, number>;
}

/** Requests sent in a row before answers are looked at. */
const YIELD_EVERY = 16;

interface Tally {
  latencies_ms: number[];
  errors: LoadResult["errors"];
  by_status: Record<string, number>;
}

function errorKind(error: unknown): "timeout" | "connect" | "read" {
  const { name, code } = error as { name?: string; code?: string };
  if (name === "TimeoutError" || name === "AbortError") return "timeout";
  return code === "ECONNREFUSED" ? "connect" : "read";
}

async function sendOne(
  options: OpenLoopOptions,
  agent: Agent,
  number: number,
  due_ms: number,
  tally: Tally,
): Promise<void> {
  try {
    const { headers, timeout_ms = 5000 } = options;
    const answer = await http(options.url + (options.pathOf?.(number) ?? ""), { agent, headers, timeout_ms });
    tally.latencies_ms.push(performance.now() - due_ms);
    tally.by_status[answer.status] = (tally.by_status[answer.status] ?? 0) + 1;
    if (answer.status >= 400) tally.errors.status++;
    options.onAnswer?.(answer, number);
  } catch (error) {
    tally.errors[errorKind(error)]++;
  }
}

/** @param sorted ascending; @param share 0..1. Nearest rank; 0 when there is nothing. */
export function percentile(sorted: number[], share: number): number {
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? 0;
}

function summarise(tally: Tally, elapsed_ms: number, worst_lag_ms: number): OpenLoopResult {
  const sorted = tally.latencies_ms.sort((a, b) => a - b);
  const sum = sorted.reduce((total, latency) => total + latency, 0);
  return {
    requests: sorted.length,
    rps: sorted.length / (elapsed_ms / 1000),
    mean_ms: sorted.length > 0 ? sum / sorted.length : 0,
    p50_ms: percentile(sorted, 0.5),
    p90_ms: percentile(sorted, 0.9),
    p99_ms: percentile(sorted, 0.99),
    p999_ms: percentile(sorted, 0.999),
    max_ms: sorted.at(-1) ?? 0,
    quantiles_ms: QUANTILES.map((share) => percentile(sorted, share)),
    errors: tally.errors,
    worst_lag_ms,
    by_status: tally.by_status,
  };
}

/**
 * Open loop: sends requests at a fixed rate however slowly they are answered, and counts each
 * latency from the moment the request was due, so that a stall is felt by all it delays (what a
 * closed loop hides; Gil Tene's "coordinated omission"). Ends when every request has ended.
 */
export async function runOpenLoop(options: OpenLoopOptions): Promise<OpenLoopResult> {
  const agent = new Agent({ keepAlive: true });
  const errors = { status: 0, connect: 0, read: 0, write: 0, timeout: 0 };
  const tally: Tally = { latencies_ms: [], errors, by_status: {} };
  const pending: Promise<void>[] = [];
  const start_ms = performance.now();
  let worst_lag_ms = 0;
  while (pending.length < options.count && options.signal?.aborted !== true) {
    const due_ms = start_ms + (pending.length * 1000) / options.rate;
    const now_ms = performance.now();
    if (now_ms < due_ms) {
      await pause(Math.max(1, due_ms - now_ms));
      continue;
    }
    worst_lag_ms = Math.max(worst_lag_ms, now_ms - due_ms);
    pending.push(sendOne(options, agent, pending.length, due_ms, tally));
    // When it is late it must still read answers, or it would only get later.
    if (pending.length % YIELD_EVERY === 0) await yieldToEvents();
  }
  await Promise.all(pending);
  const elapsed_ms = performance.now() - start_ms;
  agent.destroy();
  return summarise(tally, elapsed_ms, worst_lag_ms);
}
