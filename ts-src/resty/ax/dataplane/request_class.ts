/**
 * The class of a request: read once for each visit to an upstream, in the access phase where access() is used, else in
 * the balancer phase, and kept over retries. What comes from outside can do no more than name a class: one that
 * does not exist is normal, and one that the client gives itself is at most normal unless it is trusted.
 */
import { isInRanges } from "../core/cidr";
import { DEFAULT_PRIORITY, roleOfPriority } from "../core/priority";
import type { FaultReporter } from "./pick";
import type { Placement } from "./placement";
import type { RequestRecord } from "./requests";
import type { Upstream } from "./upstream";
import { errorText } from "./error_text";

/** What the user's function says; "" = nothing. One that throws or answers nonsense is reported. */
function askFunction(value: (this: void) => unknown, upstream: Upstream, report: FaultReporter): string {
  const [ok, answer] = pcall(value);
  if (ok && typeof answer === "string") return answer;
  if (ok && answer === undefined) return "";
  const said = ok ? `returned a ${type(answer)}; the name of a class is needed` : errorText(answer);
  report("class_source", `class_source of upstream "${upstream.config.name}": ${said}`);
  return "";
}

function mayPromote(upstream: Upstream, placement: Placement): boolean {
  if (!placement.guarded) return true;
  const address = upstream.door.class_reader?.address();
  return address !== undefined && isInRanges(address, placement.trusted);
}

function priorityOfRequest(upstream: Upstream, placement: Placement, report: FaultReporter): number {
  const reader = upstream.door.class_reader;
  if (reader === undefined) return DEFAULT_PRIORITY;
  const value = reader.value;
  const name = reader.is_function ? askFunction(value, upstream, report) : ((value() as string | undefined) ?? "");
  if (name === "") return DEFAULT_PRIORITY;
  const priority = placement.priorities[name];
  if (priority === undefined) {
    upstream.door.unknown_classes++;
    return DEFAULT_PRIORITY;
  }
  if (priority >= DEFAULT_PRIORITY || mayPromote(upstream, placement)) return priority;
  upstream.door.capped_classes++;
  return DEFAULT_PRIORITY;
}

/** Reads the request's class unless it has one for this upstream. Access or balancer phase. */
export function readClass(upstream: Upstream, record: RequestRecord, report: FaultReporter): void {
  const placement = upstream.placement;
  if (placement === undefined || placement.source === undefined || record.class_of === upstream) return;
  record.class_of = upstream;
  record.priority = priorityOfRequest(upstream, placement, report);
  record.role = roleOfPriority(record.priority);
}
