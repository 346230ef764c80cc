/**
 * What an operator wants of a node, whatever the automatics think: it outranks every state they would
 * choose. A node has at most one will at a time, the latest. Wills are kept per node identity in the shared store
 * (wire.ts), so that they survive reloads, elections and the loss of any worker.
 *
 * | kind        | new requests             | requests in flight | ends                          |
 * |-------------|--------------------------|--------------------|-------------------------------|
 * | drain       | none                     | finish             | when taken back, or at its time |
 * | maintenance | none; nor is it probed   | finish             | when taken back, or at its time |
 * | force_up    | its share, without a ramp | finish            | when taken back, or at its time |
 * | force_down  | none                     | finish             | when taken back, or at its time |
 */
import { asNumber, asRecord } from "./values";

export type WillKind = "drain" | "maintenance" | "force_up" | "force_down";

export interface OperatorWill {
  kind: WillKind;
  /** When it ends by itself, monotonic ms; absent: when it is taken back. */
  until_ms?: number;
  /** The operator's words. */
  why?: string;
  /** Who, as far as the API was told. */
  by?: string;
  /** When it was given, monotonic ms. */
  at_ms: number;
}

const KINDS: Record<string, WillKind | undefined> = {
  drain: "drain",
  maintenance: "maintenance",
  force_up: "force_up",
  force_down: "force_down",
};

/**
 * Names have no control characters (config/texts.ts), so that no two pairs of upstream and node share a key.
 *
 * @returns key of a node's will in the store
 */
export function willKey(upstream: string, node_id: string): string {
  return `operator:${upstream}\n${node_id}`;
}

/** @returns key of the number that moves with every change of a will in the upstream */
export function willVersionKey(upstream: string): string {
  return `operator:${upstream}`;
}

/**
 * @param value from JSON
 * @returns the will, or undefined when it is none: fields of the wrong type are left out, a missing kind or time makes it none
 */
export function parseWill(value: unknown): OperatorWill | undefined {
  const given = asRecord(value);
  const kind = typeof given?.["kind"] === "string" ? KINDS[given["kind"]] : undefined;
  const at_ms = asNumber(given?.["at_ms"]);
  if (given === undefined || kind === undefined || at_ms === undefined) return undefined;
  const will: OperatorWill = { kind, at_ms, until_ms: asNumber(given["until_ms"]) };
  if (typeof given["why"] === "string") will.why = given["why"];
  if (typeof given["by"] === "string") will.by = given["by"];
  return will;
}

/** @returns whether it holds now: until it is taken back, or before its time */
export function isInForce(will: OperatorWill, now_ms: number): boolean {
  return will.until_ms === undefined || now_ms < will.until_ms;
}

/** @returns whether the node gets no new requests while it holds */
export function keepsOut(will: OperatorWill): boolean {
  return will.kind !== "force_up";
}

const WORDS: Record<WillKind, string> = {
  drain: "drained",
  maintenance: "in maintenance",
  force_up: "forced up",
  force_down: "forced down",
};

/** @returns the will in words: `drained by the operator (alice): kernel update` */
export function willText(will: OperatorWill): string {
  const by = will.by === undefined ? "" : ` (${will.by})`;
  const why = will.why === undefined ? "" : `: ${will.why}`;
  return `${WORDS[will.kind]} by the operator${by}${why}`;
}
