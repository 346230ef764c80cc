/**
 * Upstreams that have left the configuration as a whole. What the store has of them (their log of events above all) would
 * add up where names change with every deployment: it is removed after an hour, as of nodes (gone.ts).
 *
 * | key | written by | lives |
 * |---|---|---|
 * | upstreams | the collector: name → since when it is gone, monotonic ms; 0 = configured | for ever |
 */
import { eventKey, EVENTS_MAX, eventsKey, transitionsKey } from "../core/health/events";
import { willKey, willVersionKey } from "../core/operator";
import { REJECT_REASONS } from "../core/reject";
import { freedKey, heldKey, totalKey } from "../core/slots";
import { TALLIES, tallyKey } from "../core/tallies";
import { asNumber, asRecord } from "../core/values";
import { backlogKey, drainKey, limitsKey } from "../core/wire";
import { lineKey } from "../core/worker_keys";
import { FORGET_AFTER_MS, goneKey, isHeld } from "./gone";
import type { CollectorDeps } from "./state";

const LIST_KEY = "upstreams";

export interface GoneUpstream {
  name: string;
  since_ms: number;
  /** Identities of the nodes that the store knows of, and "" for the upstream itself. */
  ids: string[];
}

function readRecord(deps: CollectorDeps, key: string): Record<string, unknown> | undefined {
  const text = deps.store.get(key);
  return text === undefined ? undefined : asRecord(deps.decode(`${text}`));
}

function writeList(deps: CollectorDeps, configured: Record<string, unknown>, gone: GoneUpstream[]): void {
  const list: Record<string, number> = {};
  for (const name in configured) list[name] = 0;
  for (let i = 0; i < gone.length; i++) list[gone[i].name] = gone[i].since_ms;
  const text = deps.encode(list);
  if (text !== undefined) deps.store.set(LIST_KEY, text);
}

function nodesOf(deps: CollectorDeps, name: string): string[] {
  const ids = [""];
  for (const id in asRecord(readRecord(deps, `detail:${name}`)?.nodes) ?? {}) ids.push(id);
  for (const id in readRecord(deps, goneKey(name)) ?? {}) ids.push(id);
  return ids;
}

/**
 * Finds out which upstreams have gone, and notes those that are there. When a collector begins.
 *
 * @param configured upstreams by name
 * @param now_ms monotonic ms
 */
export function findGoneUpstreams(
  deps: CollectorDeps,
  configured: Record<string, unknown>,
  now_ms: number,
): GoneUpstream[] {
  const gone: GoneUpstream[] = [];
  const before = readRecord(deps, LIST_KEY) ?? {};
  for (const name in before) {
    const since_ms = asNumber(before[name]);
    if (since_ms !== undefined && configured[name] === undefined) {
      gone.push({ name, since_ms: since_ms > 0 ? Math.min(since_ms, now_ms) : now_ms, ids: nodesOf(deps, name) });
    }
  }
  writeList(deps, configured, gone);
  return gone;
}

function removeCounts(deps: CollectorDeps, name: string): void {
  const store = deps.store;
  for (let k = 0; k < TALLIES.length; k++) store.remove(tallyKey(name, TALLIES[k]));
  for (let k = 0; k < REJECT_REASONS.length; k++) store.remove(`refused:${REJECT_REASONS[k]}:${name}`);
  const others = [`keyless:${name}`, `classes:unknown:${name}`, `classes:capped:${name}`];
  for (let k = 0; k < others.length; k++) store.remove(others[k]);
}

function removeAll(deps: CollectorDeps, { name, ids }: GoneUpstream, holders: number[]): void {
  const store = deps.store;
  for (let i = 0; i < ids.length; i++) {
    store.remove(totalKey(name, ids[i]));
    store.remove(willKey(name, ids[i]));
    for (let k = 0; k < holders.length; k++) store.remove(heldKey(name, ids[i], holders[k]));
  }
  for (let seq = 0; seq < EVENTS_MAX; seq++) store.remove(eventKey(name, seq));
  const published = [`snapshot:${name}`, `detail:${name}`, `windows:${name}`, eventsKey(name), transitionsKey(name)];
  for (let k = 0; k < published.length; k++) store.remove(published[k]);
  const others = [goneKey(name), freedKey(name), limitsKey(name), drainKey(name), backlogKey(name), lineKey(name, 0)];
  for (let k = 0; k < others.length; k++) store.remove(others[k]);
  store.remove(willVersionKey(name));
  removeCounts(deps, name);
}

/**
 * Removes what is left of one upstream, if there is one that is due and no worker has requests there any more. Writes the
 * list again when somebody has removed it.
 *
 * @param gone what `findGoneUpstreams` gave; it is taken out there
 * @param configured upstreams by name
 * @param holders numbers of the live workers; dead ones' keys are gone already
 */
export function clearGoneUpstream(
  deps: CollectorDeps,
  gone: GoneUpstream[],
  configured: Record<string, unknown>,
  holders: number[],
  now_ms: number,
): void {
  if (deps.store.get(LIST_KEY) === undefined) writeList(deps, configured, gone);
  for (let i = 0; i < gone.length; i++) {
    const { name, ids, since_ms } = gone[i];
    if (now_ms - since_ms >= FORGET_AFTER_MS && !ids.some((id) => isHeld(deps, name, id, holders))) {
      removeAll(deps, gone[i], holders);
      gone.splice(i, 1);
      writeList(deps, configured, gone);
      return;
    }
  }
}
