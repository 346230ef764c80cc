import { isInForce, type OperatorWill, parseWill, willKey, willVersionKey } from "../core/operator";
import type { Store } from "../core/store";
import { asCount } from "../core/values";

/** An operator's will, as shown. */
export interface WillStatus {
  kind: string;
  since_s: number;
  /** Absent: until it is taken back. */
  until_s?: number;
  why?: string;
  by?: string;
}

/** @returns whether any node of the upstream ever had a will: otherwise there is nothing to look for. */
export function hasWills(store: Store, upstream: string): boolean {
  return asCount(store.get(willVersionKey(upstream))) > 0;
}

/** @returns the will that holds for the node now, or undefined. Any phase. */
export function readWill(
  store: Store,
  decode: (this: void, text: string) => unknown,
  upstream: string,
  id: string,
  now_ms: number,
): OperatorWill | undefined {
  const text = store.get(willKey(upstream, id));
  const will = typeof text === "string" ? parseWill(decode(text)) : undefined;
  return will !== undefined && isInForce(will, now_ms) ? will : undefined;
}

/** @returns the will as the API shows it */
export function willStatus(will: OperatorWill, now_ms: number): WillStatus {
  const status: WillStatus = { kind: will.kind, since_s: Math.floor(now_ms - will.at_ms) / 1000 };
  if (will.until_ms !== undefined) status.until_s = Math.floor(will.until_ms - now_ms) / 1000;
  status.why = will.why;
  status.by = will.by;
  return status;
}
