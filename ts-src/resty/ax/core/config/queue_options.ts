import { DEFAULT_CLASSES } from "../classes";
import { keyPath, type Problems, report } from "./problems";
import type { FieldSchema } from "./schema";
import { quote, sortedKeys } from "./show";
import { suggest } from "./suggest";
import { quotedList } from "./describe";
import { checkName } from "./texts";

/** nginx keeps a connection for each waiting request; more than this is a mistake. */
const MAX_SIZE = 1000000;

function checkHeader(text: string): string | undefined {
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    const letter = (code >= 65 && code <= 90) || (code >= 97 && code <= 122);
    if (!letter && !(code >= 48 && code <= 57) && code !== 45) {
      return "is no name of a header; letters, digits and - are allowed";
    }
  }
  return text === "" ? "is empty; leave the option out instead" : undefined;
}

/** Options of `queue`; the fields of core/model.ts QueueConfig. */
export const queueOptions: Record<string, FieldSchema> = {
  size: {
    kind: "number",
    integer: true,
    min: 1,
    max: MAX_SIZE,
    default: 1000,
    doc:
      "Most requests waiting at a time, over all workers; past it `503` with `X-AX-Reject: queue_full`. With `class_source`, " +
      "priority 2 may fill 90 % of it, 3 80 %, 4 70 %, 5 60 %: there is room for higher ones when batch has piled up.",
    reason:
      "each holds a connection and some 20 kB; a thousand is more than is served before the time-out of most upstreams",
  },
  timeout_ms: {
    kind: "number",
    integer: true,
    min: 1,
    max: 600000,
    default: 15000,
    doc: "Longest wait; after it `503` with `X-AX-Reject: queue_timeout`.",
    reason: "clients that wait longer have given up, most of them",
  },
  class_sizes: {
    kind: "map",
    of: { kind: "number", integer: true, min: 0, max: MAX_SIZE, doc: "Most requests of the class's priority waiting." },
    default_empty: true,
    key_doc: "class",
    key_check: checkName,
    expected: "a map of class names to numbers, { batch = 100 },",
    doc:
      "Most requests waiting by class, beside `size` and instead of its shares; 0 = the class never waits. Classes of one " +
      "priority count together, and the smallest of their limits holds.",
    reason: "the shares of `size` do for most",
  },
  deadline_header: {
    kind: "string",
    check: checkHeader,
    doc:
      "Request header in which a client says how many ms it will still wait: its request waits no longer. It can only " +
      "shorten the wait; anything but a whole number is ignored.",
  },
};

/** Options of one upstream about admission. */
export const admissionFields: Record<string, FieldSchema> = {
  queue: {
    kind: "object",
    optional: true,
    fields: queueOptions,
    expected: "a map of options, { size = 1000, timeout_ms = 15000 },",
    doc:
      "Lets requests wait for room when every node is full, see below and [admission.md](admission.md); needs `access()`. " +
      "Without it they get `503` at once.",
  },
  retry_after_s: {
    kind: "number",
    integer: true,
    min: 0,
    max: 3600,
    default: 1,
    doc: "What the `Retry-After` header of refused requests says; 0 = no such header.",
    reason: "within a second most upstreams have served what they had in flight",
  },
};

/** Limits must be of classes there are. Parameters as of ObjectCheck. */
export function checkQueue(record: Record<string, unknown>, path: string, problems: Problems): void {
  const queue = record["queue"] as Record<string, unknown> | undefined;
  const sizes = queue?.["class_sizes"] as Record<string, unknown> | undefined;
  if (sizes === undefined) return;
  const known = sortedKeys((record["classes"] as Record<string, unknown> | undefined) ?? DEFAULT_CLASSES);
  const names = sortedKeys(sizes);
  for (let i = 0; i < names.length; i++) {
    if (known.includes(names[i])) continue;
    const near = suggest(names[i], known);
    const hint = near === undefined ? "" : `; did you mean "${near}"?`;
    const at = keyPath(keyPath(keyPath(path, "queue"), "class_sizes"), names[i]);
    report(problems, at, `${quote(names[i])} is no class here; one of ${quotedList(known)} is needed${hint}`);
  }
}
