/**
 * Nodes that have left the configuration. What the store has of them outlives reloads and would add up with every
 * rollout: it is removed here.
 *
 * | key | written by | lives |
 * |---|---|---|
 * | gone:<upstream> | the collector: node identity → since when, monotonic ms | until the last of them is forgotten |
 *
 * A node's slots go as soon as no worker holds any, its operator's will after an hour: a node that is away for a moment
 * comes back as the operator left it, and an address that is given to another machine does not come up drained.
 */
import { willKey } from "../core/operator";
import { heldKey, heldOf, totalKey } from "../core/slots";
import { asNumber, asRecord } from "../core/values";
import { trialKey } from "../core/wire";
import type { CollectorDeps } from "./state";

/** So long a node may be away and still be known, ms. Longer than a rollback takes, shorter than addresses are kept unused. */
export const FORGET_AFTER_MS = 3600000;

/** More are forgotten earlier: the list is written as a whole. */
const GONE_MAX = 2000;

/** Nodes looked at per tick: ten times two reads for each worker, some 0.1 ms. */
const PER_TICK = 10;

export interface Gone {
  upstream: string;
  /** Identities, in the order in which they are looked at. */
  ids: string[];
  since_ms: Record<string, number | undefined>;
  /** Next to look at. */
  cursor: number;
}

export function goneKey(upstream: string): string {
  return `gone:${upstream}`;
}

function write(deps: CollectorDeps, gone: Gone): void {
  const key = goneKey(gone.upstream);
  const text = gone.ids.length > 0 ? deps.encode(gone.since_ms) : undefined;
  if (text === undefined) deps.store.remove(key);
  else deps.store.set(key, text);
}

/**
 * Finds out which nodes have gone since the collector before this one, and which it knew of.
 *
 * @param configured the upstream's nodes by identity
 * @param details of the nodes that the collector before this one had, by identity; undefined = not known
 * @param now_ms monotonic ms
 */
export function findGone(
  deps: CollectorDeps,
  upstream: string,
  configured: Record<string, unknown>,
  details: Record<string, unknown> | undefined,
  now_ms: number,
): Gone {
  const gone: Gone = { upstream, ids: [], since_ms: {}, cursor: 0 };
  const text = deps.store.get(goneKey(upstream));
  const before = text === undefined ? undefined : asRecord(deps.decode(`${text}`));
  for (const id in before ?? {}) {
    const since_ms = asNumber(before?.[id]);
    if (since_ms !== undefined && configured[id] === undefined) gone.since_ms[id] = Math.min(since_ms, now_ms);
  }
  for (const id in details ?? {}) {
    if (configured[id] === undefined && gone.since_ms[id] === undefined) {
      gone.since_ms[id] = now_ms;
      const trial = asNumber(asRecord(details?.[id])?.["trial"]);
      if (trial !== undefined) deps.store.remove(trialKey(upstream, id, trial));
    }
  }
  for (const id in gone.since_ms) gone.ids.push(id);
  // Records have no order of their own in Lua.
  gone.ids.sort((a, b) => (a < b ? -1 : a > b ? 1 : 0));
  if (text !== undefined || gone.ids.length > 0) write(deps, gone);
  return gone;
}

/** A worker that is shutting down may have requests there for hours. */
export function isHeld(deps: CollectorDeps, upstream: string, id: string, holders: number[]): boolean {
  for (let k = 0; k < holders.length; k++) {
    if (heldOf(deps.store.get(heldKey(upstream, id, holders[k]))) > 0) return true;
  }
  return false;
}

/** @returns whether nothing is left of the node, and nothing more will come */
function clear(deps: CollectorDeps, gone: Gone, id: string, holders: number[], now_ms: number): boolean {
  if (isHeld(deps, gone.upstream, id, holders)) return false;
  deps.store.remove(totalKey(gone.upstream, id));
  for (let k = 0; k < holders.length; k++) deps.store.remove(heldKey(gone.upstream, id, holders[k]));
  const away_ms = now_ms - (gone.since_ms[id] ?? 0);
  if (away_ms < FORGET_AFTER_MS && gone.ids.length <= GONE_MAX) return false;
  deps.store.remove(willKey(gone.upstream, id));
  return true;
}

/**
 * Removes what is left of some of the nodes, in turn.
 *
 * @param holders numbers of the live workers (core/slots.ts); dead ones' keys are gone already
 * @param now_ms monotonic ms
 */
export function clearGone(deps: CollectorDeps, gone: Gone, holders: number[], now_ms: number): void {
  const { ids } = gone;
  const look = Math.min(PER_TICK, ids.length);
  let forgotten = false;
  for (let k = 0; k < look; k++) {
    if (gone.cursor >= ids.length) gone.cursor = 0;
    const id = ids[gone.cursor];
    if (clear(deps, gone, id, holders, now_ms)) {
      gone.since_ms[id] = undefined;
      const last = ids.pop() as string;
      if (last !== id) ids[gone.cursor] = last;
      forgotten = true;
    } else gone.cursor++;
  }
  if (forgotten) write(deps, gone);
}
