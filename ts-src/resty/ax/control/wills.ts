import { type OperatorWill, willKey, willVersionKey } from "../core/operator";
import type { Store } from "../core/store";
import { padded } from "../core/values";

/**
 * The operator's wills in the shared store, as the API writes and reads them. One key per node: changes of
 * different nodes never touch the same entry, in whatever workers they arrive.
 */
export interface WillDeps {
  store: Store;
  encode(this: void, value: unknown): string | undefined;
}

/**
 * Wills are padded to one length. A value that replaces one of the same length is written in place by the shared
 * dict; with another length it would first be removed, and in a full dict be lost. So whatever was written once can be
 * changed whatever happens.
 */
const WILL_BYTES = 768;

/**
 * Sets a node's will, or takes it back. All or nothing.
 *
 * @param will undefined: none
 * @returns false when the store is full; nothing has changed then
 */
export function writeWill(deps: WillDeps, upstream: string, id: string, will: OperatorWill | undefined): boolean {
  const { store } = deps;
  const key = willKey(upstream, id);
  const version = willVersionKey(upstream);
  if (will === undefined) {
    if (store.get(key) === undefined) return true;
    store.remove(key);
    // Room has just been made, should the number have been deleted meanwhile.
    store.incr(version, 1);
    return true;
  }
  const text = deps.encode(will);
  // There first: a number that exists can be added to in a full store.
  if (text === undefined || store.incr(version, 0) === undefined) return false;
  if (!store.set(key, padded(text, WILL_BYTES))) return false;
  store.incr(version, 1);
  return true;
}
