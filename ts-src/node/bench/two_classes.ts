/** Load of two classes at a fixed rate, for the overload comparison and its spec. */
import { Agent } from "node:http";
import { setImmediate as yieldToEvents } from "node:timers/promises";
import { http, pause } from "../testkit";

export const FIRST_CLASS = "vip";
export const CLASSES = [FIRST_CLASS, "batch"];

/** Every so many-th request is of the first class; the others are batch. */
export const VIP_EVERY = 5;

/** Requests sent in a row before answers are looked at. */
const YIELD_EVERY = 16;

/** What became of the requests of one class. */
export interface Tally {
  /** From the moment each was due. */
  served_ms: number[];
  /** When they were answered. */
  served_at_ms: number[];
  refused_ms: number[];
  refused_at_ms: number[];
  /** X-AX-Reject of those. */
  reasons: Record<string, number>;
  /** Latest that one was sent after it was due. */
  lag_ms: number;
  /** Statuses and errors of all else. */
  other: string[];
}

interface Sending {
  url: string;
  agent: Agent;
  /** Statuses that refuse. */
  refusals: number[];
}

async function sendOne({ url, agent, refusals }: Sending, name: string, due_ms: number, tally: Tally): Promise<void> {
  const answer = await http(url, { agent, headers: { "X-Class": name }, timeout_ms: 60_000 }).catch((error: unknown) =>
    error instanceof Error ? error : new Error(String(error)),
  );
  const took_ms = performance.now() - due_ms;
  if (!(answer instanceof Error) && answer.status === 200) {
    tally.served_ms.push(took_ms);
    tally.served_at_ms.push(due_ms + took_ms);
  } else if (!(answer instanceof Error) && refusals.includes(answer.status)) {
    tally.refused_ms.push(took_ms);
    tally.refused_at_ms.push(due_ms + took_ms);
    const reason = String(answer.headers["x-ax-reject"] ?? "");
    tally.reasons[reason] = (tally.reasons[reason] ?? 0) + 1;
  } else {
    tally.other.push(answer instanceof Error ? answer.message : String(answer.status));
  }
}

/**
 * Open loop: each request is sent when it is due, and its time counts from then. Ends when all are answered.
 *
 * @param rate requests a second
 * @param refusals statuses that mean "no room", 503 by default
 */
export async function offer(
  url: string,
  rate: number,
  duration_s: number,
  refusals: number[] = [503],
): Promise<Record<string, Tally>> {
  const agent = new Agent({ keepAlive: true });
  const tallies: Record<string, Tally> = {};
  for (const name of CLASSES) {
    tallies[name] = {
      served_ms: [],
      served_at_ms: [],
      refused_ms: [],
      refused_at_ms: [],
      reasons: {},
      lag_ms: 0,
      other: [],
    };
  }
  const pending: Promise<void>[] = [];
  const start_ms = performance.now();
  while (pending.length < rate * duration_s) {
    const due_ms = start_ms + (pending.length * 1000) / rate;
    const early_ms = due_ms - performance.now();
    if (early_ms > 0) await pause(early_ms);
    // When it is late it must still read answers, or it would only get later.
    else if (pending.length % YIELD_EVERY === 0) await yieldToEvents();
    const name = pending.length % VIP_EVERY === 0 ? FIRST_CLASS : "batch";
    tallies[name].lag_ms = Math.max(tallies[name].lag_ms, performance.now() - due_ms);
    pending.push(sendOne({ url, agent, refusals }, name, due_ms, tallies[name]));
  }
  await Promise.all(pending);
  agent.destroy();
  return tallies;
}

/** Answers a second: the slope of their number over time, by least squares. A count would depend on where a wave is cut. */
export function rateOf(at_ms: number[]): number {
  at_ms.sort((a, b) => a - b);
  const mean_ms = at_ms.reduce((sum, time) => sum + time, 0) / at_ms.length;
  const mean_k = (at_ms.length - 1) / 2;
  let [product, square] = [0, 0];
  at_ms.forEach((time, k) => {
    product += (time - mean_ms) * (k - mean_k);
    square += (time - mean_ms) ** 2;
  });
  return (product / square) * 1000;
}
