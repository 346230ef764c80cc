/** What every part of the status reads by, and how it shows figures. */
import type { Store } from "../core/store";

export interface StatusDeps {
  store: Store;
  decode(this: void, text: string): unknown;
  processAlive(this: void, pid: number): boolean;
}

/** @returns the object whose JSON text is kept under `key`; undefined when there is none, or it is damaged. Any phase. */
export function decodeObject(deps: StatusDeps, key: string): object | undefined {
  const text = deps.store.get(key);
  if (typeof text !== "string") return undefined;
  const value = deps.decode(text);
  return typeof value === "object" ? (value as object) : undefined;
}

/** Four decimals are more than any of these figures means. */
export function rounded(value: number): number {
  return Math.floor(value * 10000 + 0.5) / 10000;
}

/** @returns whole milliseconds between the two, in s */
export function seconds(from_ms: number, to_ms: number): number {
  return Math.floor(to_ms - from_ms) / 1000;
}
