/**
 * A rate limit that is exact over the workers of a gateway: in any interval of t seconds at most
 * burst + rate · t requests pass, whatever the workers do and in whatever order.
 *
 * GCRA (ITU-T I.371; a token bucket in other words) keeps one number, the theoretical arrival time, and needs
 * compare-and-swap to advance it; the store has only `incr`. So the bucket's tokens are given out by the time they
 * come into being: time is cut into slots of `tokens` / rate seconds, each slot brings forth `tokens` tokens, which
 * may be taken from its end on, for `lives` slots; what is not taken by then is lost, as in a full bucket. A slot's
 * tokens are counted by one key: `incr` says who gets one. A slot is never refilled, so nothing can be taken twice.
 *
 * Why it is exact: whoever decides in slot K takes from the slots K − lives .. K − 1. Over an interval that begins in
 * slot i and ends in slot j these are j − i + lives slots; the interval is longer than j − i − 1 slots; and
 * (lives + 1) · tokens ≤ burst. After a pause lives · tokens are there at once: at least four fifths of the burst from
 * five on, half of it at least.
 *
 * "Time" is each worker's clock as of the begin of its event loop's turn: one that is late takes tokens that others see
 * as lost. Refused requests cost nothing once a worker has seen the slots empty.
 */
import { newSweeps, type Sweeps, sweepKeys } from "./rate_sweep";
import type { Store } from "./store";

/** Slots in a burst, at best: a fifth of it is the grain. */
const PARTS = 5;

/**
 * A burst is at least the rate of a second ÷ this, what comes in 5 ms: then a slot lasts a millisecond, one step of nginx'
 * clock. With shorter ones tokens are lost before any worker looks.
 */
export const BURSTS_A_SECOND_MOST = 200;

export interface RateLimit {
  store: Store;
  name: string;
  rate_per_s: number;
  burst: number;
  /** Tokens of one slot, its length, and for how many slots they can be taken. */
  tokens: number;
  slot_ms: number;
  lives: number;
  /** Where its slots' counts are, but for the slot's number. Of slots of another length the numbers mean other times. */
  prefix: string;
  /** The oldest slot that may have tokens, and its key. */
  slot: number;
  key: string;
  sweeps: Sweeps;
}

/**
 * @param name tells limits apart
 * @param rate_per_s over 0
 * @param burst whole, 2 or more, and the rate ÷ BURSTS_A_SECOND_MOST
 */
export function newRateLimit(store: Store, name: string, rate_per_s: number, burst: number, now_ms: number): RateLimit {
  const tokens = Math.max(1, Math.floor(burst / PARTS));
  const slot_ms = (tokens * 1000) / rate_per_s;
  const lives = Math.floor(burst / tokens) - 1;
  const prefix = `rate:${name}:${slot_ms}:`;
  const sweeps = newSweeps(store, name, slot_ms, now_ms);
  return { store, name, rate_per_s, burst, tokens, slot_ms, lives, prefix, slot: -1, key: "", sweeps };
}

function useSlot(limit: RateLimit, slot: number): void {
  limit.slot = slot;
  limit.key = `${limit.prefix}${slot}`;
}

/**
 * Takes one token.
 *
 * @returns whether the request may pass; true also when the store has no room
 */
export function takeToken(limit: RateLimit, now_ms: number): boolean {
  const current = Math.floor(now_ms / limit.slot_ms);
  if (limit.slot < current - limit.lives) useSlot(limit, current - limit.lives);
  while (limit.slot < current) {
    const taken = limit.store.incr(limit.key, 1);
    if (taken === undefined || taken <= limit.tokens) return true;
    useSlot(limit, limit.slot + 1);
  }
  return false;
}

/** @returns ms until the next tokens come into being */
export function retryAfterMs(limit: RateLimit, now_ms: number): number {
  return (Math.floor(now_ms / limit.slot_ms) + 1) * limit.slot_ms - now_ms;
}

/** Removes the counts of slots long past. Flush. */
export function sweepTokens(limit: RateLimit, now_ms: number): void {
  sweepKeys(limit.sweeps, now_ms);
}
