import { DEFAULT_CLASSES } from "../core/classes";
import { quotedList } from "../core/config/describe";
import { isAbsent, isTable, quote, shapeOf, showValue, sortedKeys } from "../core/config/show";
import { suggest } from "../core/config/suggest";
import { prioritiesNamed } from "../core/drain_plan";
import type { UpstreamConfig } from "../core/model";
import { padded } from "../core/values";
import { backlogKey } from "../core/wire";
import { apiError, type ApiResponse } from "./errors";
import type { WillDeps } from "./wills";

/** What a PATCH of an upstream asks for: drain its backlog, or stop that. */
export interface BacklogChange {
  on: boolean;
  /** Which of the classes 1..5 to refuse meanwhile; absent = as configured. */
  refuse?: boolean[];
}

const FIELDS = ["drain_backlog", "refuse"];

/** One length for all wishes, for the reason given with wills (wills.ts). */
const WISH_BYTES = 128;

type Checked<T> = LuaMultiReturn<[T | undefined, ApiResponse | undefined]>;

function unknownField(name: string): ApiResponse {
  const nearest = suggest(name, FIELDS);
  const hint = nearest === undefined ? "" : `; did you mean "${nearest}"?`;
  return apiError("UnknownField", `there is no field ${quote(name)}${hint}; the fields are ${FIELDS.join(", ")}`);
}

function readRefuse(config: UpstreamConfig, value: unknown): Checked<boolean[]> {
  const known = sortedKeys(config.classes ?? DEFAULT_CLASSES);
  const need = `a list of classes is needed, of ${quotedList(known)}`;
  const kind = isTable(value) ? shapeOf(value).kind : "none";
  if (kind !== "list" && kind !== "empty") {
    return $multi(undefined, apiError("BadValue", `"refuse" is ${showValue(value)}; ${need}`));
  }
  const names = value as unknown[];
  for (const name of names) {
    if (typeof name !== "string" || !known.includes(name)) {
      return $multi(
        undefined,
        apiError("BadValue", `"refuse" has ${showValue(name)}, which is no class here; ${need}`),
      );
    }
  }
  return $multi(prioritiesNamed(config, names as string[]), undefined);
}

/**
 * @param body decoded JSON
 * @returns the change, or the error to answer with
 */
export function readBacklogChange(config: UpstreamConfig, body: unknown): Checked<BacklogChange> {
  const kind = isTable(body) ? shapeOf(body).kind : "none";
  if (!isTable(body) || (kind !== "map" && kind !== "empty")) {
    return $multi(undefined, apiError("BodyNotJson", `the body is ${showValue(body)}; a JSON object is needed`));
  }
  for (const name of sortedKeys(body)) if (!FIELDS.includes(name)) return $multi(undefined, unknownField(name));
  const on = body["drain_backlog"];
  if (on === undefined || isAbsent(on)) {
    return $multi(undefined, apiError("BadChange", "nothing to change: drain_backlog is needed"));
  }
  if (typeof on !== "boolean") {
    return $multi(undefined, apiError("BadValue", `"drain_backlog" is ${showValue(on)}; true or false is needed`));
  }
  if (config.queue === undefined) {
    return $multi(
      undefined,
      apiError("BadChange", `upstream "${config.name}" has no queue: there is no backlog to drain`),
    );
  }
  const given = body["refuse"];
  if (given === undefined || isAbsent(given)) return $multi({ on }, undefined);
  if (!on) return $multi(undefined, apiError("BadChange", '"refuse" says whom a drain refuses, but none is begun'));
  const [refuse, wrong] = readRefuse(config, given);
  return $multi(refuse === undefined ? undefined : { on, refuse }, wrong);
}

/**
 * Tells the collector, which acts at its next tick.
 *
 * @returns false when the store is full; nothing has changed then
 */
export function writeBacklog(deps: WillDeps, upstream: string, change: BacklogChange): boolean {
  const text = deps.encode(change);
  return text !== undefined && deps.store.set(backlogKey(upstream), padded(text, WISH_BYTES));
}
