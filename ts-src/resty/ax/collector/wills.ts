import { isInForce, type OperatorWill, parseWill, willKey, willVersionKey } from "../core/operator";
import type { CollectorDeps } from "./state";

/**
 * The operator's wills for the nodes of one upstream, as the collector has read them. Written by the API
 * (control/wills.ts), one key per node, so that changes of different nodes never meet; a number beside
 * them moves with every change, so that a tick without one costs a single read.
 */
export interface Wills {
  /** The number when they were read last; undefined = never, or there was none. */
  version: number | undefined;
  by_id: Record<string, OperatorWill | undefined>;
  /** Entries of `by_id`, expired ones included. */
  count: number;
  /** When the next of them expires, monotonic ms; Infinity = none does. */
  next_expiry_ms: number;
}

export function newWills(): Wills {
  return { version: undefined, by_id: {}, count: 0, next_expiry_ms: Infinity };
}

function readWill(deps: CollectorDeps, upstream: string, id: string): OperatorWill | undefined {
  const key = willKey(upstream, id);
  const text = deps.store.get(key);
  if (text === undefined) return undefined;
  const will = parseWill(deps.decode(`${text}`));
  if (will === undefined) {
    deps.onWarning(
      "store_corrupt",
      `${willVersionKey(upstream)}: the operator's will for node ${id} is unreadable; removed`,
    );
    deps.store.remove(key);
  }
  return will;
}

function readAll(deps: CollectorDeps, upstream: string, nodes: { config: { id: string } }[], wills: Wills): void {
  wills.by_id = {};
  wills.count = 0;
  for (let i = 0; i < nodes.length; i++) {
    const id = nodes[i].config.id;
    const will = readWill(deps, upstream, id);
    if (will !== undefined) {
      wills.by_id[id] = will;
      wills.count++;
    }
  }
}

function findNextExpiry(wills: Wills, now_ms: number): number {
  let next_ms = Infinity;
  for (const id in wills.by_id) {
    const until_ms = wills.by_id[id]?.until_ms;
    if (until_ms !== undefined && until_ms > now_ms) next_ms = Math.min(next_ms, until_ms);
  }
  return next_ms;
}

/**
 * Brings the wills of an upstream up to date. Cheap when none has changed: one read of the store.
 *
 * @param nodes of the upstream
 * @param now_ms monotonic ms
 * @returns whether any may be another than at the last call: given, changed, taken back or expired
 */
export function refreshWills(
  deps: CollectorDeps,
  upstream: string,
  nodes: { config: { id: string } }[],
  wills: Wills,
  now_ms: number,
): boolean {
  const stored = deps.store.get(willVersionKey(upstream));
  const version = typeof stored === "number" ? stored : undefined;
  const changed = version !== wills.version;
  const expired = now_ms >= wills.next_expiry_ms;
  if (changed) {
    // First the number, then the wills: a change between the two is read once more at the next tick.
    wills.version = version;
    readAll(deps, upstream, nodes, wills);
  }
  if (changed || expired) wills.next_expiry_ms = findNextExpiry(wills, now_ms);
  return changed || expired;
}

/** @returns the will that holds for the node now, or undefined */
export function willOf(wills: Wills, id: string, now_ms: number): OperatorWill | undefined {
  const will = wills.by_id[id];
  return will !== undefined && isInForce(will, now_ms) ? will : undefined;
}
