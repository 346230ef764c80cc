import { quote, showValue } from "../core/config/show";
import { suggest } from "../core/config/suggest";
import { EVENTS_MAX } from "../core/health/events";
import type { UpstreamConfig } from "../core/model";
import { readEvents } from "../observe/events";
import type { StatusDeps } from "../observe/status_deps";
import { apiError, type ApiResponse } from "./errors";

/** GET …/upstreams/{name}/events: what changed its state lately. */

export interface EventsDeps extends StatusDeps {
  /** When the request came, monotonic ms. */
  now_ms: number;
  /** The request's arguments, decoded: text, true for one without a value, a list for one given several times. */
  args(this: void): Record<string, unknown>;
}

/** `pretty` is the document's, on every path. */
const ARGUMENTS = ["node", "limit", "pretty"];

function unknownArgument(args: Record<string, unknown>): ApiResponse | undefined {
  const names: string[] = [];
  for (const [name] of pairs(args)) names.push(name);
  table.sort(names);
  for (const name of names) {
    if (!ARGUMENTS.includes(name)) {
      const nearest = suggest(name, ARGUMENTS);
      const hint = nearest === undefined ? "" : `; did you mean "${nearest}"?`;
      return apiError("UnknownField", `there is no argument ${quote(name)}${hint}; there are ${ARGUMENTS.join(", ")}`);
    }
  }
  return undefined;
}

function readLimit(value: unknown): number | undefined {
  if (value === undefined) return EVENTS_MAX;
  const is_number = typeof value === "string" && string.find(value, "^%d+$")[0] !== undefined;
  const limit = is_number ? tonumber(value) : undefined;
  return limit !== undefined && limit >= 1 && limit <= EVENTS_MAX ? limit : undefined;
}

/**
 * @param isNode whether the configuration has a node of that id
 * @returns the document, or the error to answer with
 */
export function showEvents(
  deps: EventsDeps,
  upstream: UpstreamConfig,
  isNode: (this: void, id: string) => boolean,
): ApiResponse | { unknown_node: string } {
  const args = deps.args();
  const unknown = unknownArgument(args);
  if (unknown !== undefined) return unknown;
  const limit = readLimit(args["limit"]);
  if (limit === undefined) {
    const text = `"limit" is ${showValue(args["limit"])}; a whole number from 1 to ${EVENTS_MAX} is needed`;
    return apiError("BadValue", text);
  }
  const node = args["node"];
  if (node !== undefined && (typeof node !== "string" || node === "")) {
    return apiError("BadValue", `"node" is ${showValue(node)}; the id of one node is needed`);
  }
  const body = readEvents(deps, upstream.name, limit, deps.now_ms, node);
  // A node that is no longer configured may still have its events.
  if (node !== undefined && body.events.length === 0 && !isNode(node)) return { unknown_node: node };
  return { status: 200, body };
}
