import { quote, showValue, sortedKeys, isAbsent, isTable, shapeOf } from "../core/config/show";
import { suggest } from "../core/config/suggest";
import type { OperatorWill, WillKind } from "../core/operator";
import { apiError, type ApiResponse } from "./errors";

/**
 * What a PATCH asks for, checked. Nothing is changed before all of it is known to be good.
 */
export interface Change {
  /** The will to set; undefined: those of `ends` are taken back, if one of them holds. */
  kind?: WillKind;
  ends: WillKind[];
  /** How long it is to hold, s; absent: until it is taken back. */
  for_s?: number;
  why?: string;
  by?: string;
}

const FIELDS = ["drain", "maintenance", "force", "for_s", "why", "by"];

/** A month: whoever means longer means "until I take it back". */
const FOR_S_MAX = 30 * 86400;

/** Bytes. Escaped for JSON, with everything else of a will, they fit in WILL_BYTES (control/wills.ts). */
const WHY_MAX = 200;
const BY_MAX = 64;

type Checked<T> = LuaMultiReturn<[T | undefined, ApiResponse | undefined]>;

function bad(field: string, value: unknown, allowed: string): ApiResponse {
  return apiError("BadValue", `"${field}" is ${showValue(value)}; ${allowed}`);
}

function unknownField(name: string): ApiResponse {
  const nearest = suggest(name, FIELDS);
  const hint = nearest === undefined ? "" : `; did you mean "${nearest}"?`;
  return apiError("UnknownField", `there is no field ${quote(name)}${hint}; the fields are ${FIELDS.join(", ")}`);
}

function readText(fields: Record<string, unknown>, name: string, max: number): Checked<string> {
  const value = fields[name];
  if (value === undefined || isAbsent(value)) return $multi(undefined, undefined);
  if (typeof value !== "string") return $multi(undefined, bad(name, value, "a string is needed"));
  if (value.length > max) {
    return $multi(undefined, apiError("BadValue", `"${name}" has ${value.length} bytes; at most ${max} are allowed`));
  }
  const [control] = string.find(value, "%c");
  if (control !== undefined) return $multi(undefined, bad(name, value, "only printable characters are allowed"));
  return $multi(value === "" ? undefined : value, undefined);
}

/** drain or maintenance: true sets, false takes back. */
function readSwitch(
  fields: Record<string, unknown>,
  name: "drain" | "maintenance",
  change: Change,
): ApiResponse | undefined {
  const value = fields[name];
  if (value === undefined) return undefined;
  if (typeof value !== "boolean") return bad(name, value, "true or false is needed");
  return value ? set(change, name) : takeBack(change, [name]);
}

function readForce(fields: Record<string, unknown>, change: Change): ApiResponse | undefined {
  const value = fields["force"];
  if (value === undefined) return undefined;
  if (value === "up") return set(change, "force_up");
  if (value === "down") return set(change, "force_down");
  if (!isAbsent(value)) return bad("force", value, '"up", "down" or null is needed');
  return takeBack(change, ["force_up", "force_down"]);
}

function set(change: Change, kind: WillKind): ApiResponse | undefined {
  if (change.kind !== undefined) {
    return apiError("BadChange", "drain, maintenance and force cannot hold together: set one of them at a time");
  }
  change.kind = kind;
  return undefined;
}

function takeBack(change: Change, kinds: WillKind[]): ApiResponse | undefined {
  for (const kind of kinds) change.ends.push(kind);
  return undefined;
}

function readDuration(fields: Record<string, unknown>, change: Change): ApiResponse | undefined {
  const value = fields["for_s"];
  if (value === undefined || isAbsent(value)) return undefined;
  const allowed = `a number of seconds, more than 0 and at most ${FOR_S_MAX}, is needed`;
  if (typeof value !== "number" || !(value > 0 && value <= FOR_S_MAX)) return bad("for_s", value, allowed);
  if (change.kind === undefined) {
    return apiError("BadChange", '"for_s" says how long a drain, maintenance or force is to hold, but none is set');
  }
  change.for_s = value;
  return undefined;
}

function readWords(fields: Record<string, unknown>, change: Change): ApiResponse | undefined {
  const [why, why_wrong] = readText(fields, "why", WHY_MAX);
  if (why_wrong !== undefined) return why_wrong;
  const [by, by_wrong] = readText(fields, "by", BY_MAX);
  change.why = why;
  change.by = by;
  return by_wrong;
}

/**
 * @param body decoded JSON
 * @returns the change, or the error to answer with
 */
export function readChange(body: unknown): Checked<Change> {
  const kind = isTable(body) ? shapeOf(body).kind : "none";
  if (!isTable(body) || (kind !== "map" && kind !== "empty")) {
    return $multi(undefined, apiError("BodyNotJson", `the body is ${showValue(body)}; a JSON object is needed`));
  }
  for (const name of sortedKeys(body)) if (!FIELDS.includes(name)) return $multi(undefined, unknownField(name));
  const change: Change = { ends: [] };
  const wrong =
    readSwitch(body, "drain", change) ??
    readSwitch(body, "maintenance", change) ??
    readForce(body, change) ??
    readDuration(body, change) ??
    readWords(body, change);
  if (wrong !== undefined) return $multi(undefined, wrong);
  if (change.kind === undefined && change.ends.length === 0) {
    return $multi(undefined, apiError("BadChange", "nothing to change: one of drain, maintenance and force is needed"));
  }
  return $multi(change, undefined);
}

/**
 * @param before what holds now, if anything
 * @returns the will after the change; undefined = none. Made of the same change again, it is the same but for `until_ms`.
 */
export function applyChange(
  before: OperatorWill | undefined,
  change: Change,
  now_ms: number,
): OperatorWill | undefined {
  if (change.kind === undefined) {
    return before !== undefined && change.ends.includes(before.kind) ? undefined : before;
  }
  const at_ms = before?.kind === change.kind ? before.at_ms : now_ms;
  const will: OperatorWill = { kind: change.kind, at_ms };
  if (change.for_s !== undefined) will.until_ms = now_ms + Math.floor(change.for_s * 1000);
  if (change.why !== undefined) will.why = change.why;
  if (change.by !== undefined) will.by = change.by;
  return will;
}
