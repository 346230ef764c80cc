import { DEFAULT_CLASSES } from "../classes";
import { keyPath, positionPath, type Problems, report } from "./problems";
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

/** Options of `queue.drain`; the fields of core/model.ts DrainConfig. */
export const drainOptions: Record<string, FieldSchema> = {
  from: {
    kind: "number",
    min: 0,
    max: 1,
    default: 0,
    doc:
      "Share of `size` that must have been waiting for 2 s for draining to begin by itself; 0 = it begins by the " +
      "[API](api.md#draining-a-backlog-patch) only. It ends when nothing waits any more.",
    reason: "refusing requests while some could still wait is for the operator to want",
  },
  refuse: {
    kind: "list",
    of: { kind: "string", check: checkName, doc: "A class." },
    doc: "Classes whose new requests are refused meanwhile. Without it all but those of priority 1.",
  },
  class_weights: {
    kind: "map",
    of: { kind: "number", min: 1, max: 1000, doc: "Weight of the class's priority." },
    default_empty: true,
    key_doc: "class",
    key_check: checkName,
    expected: "a map of class names to weights, { vip = 16, batch = 1 },",
    doc:
      "Shares of the classes in what is served meanwhile, instead of the order of age. Priorities without a weight have 16, " +
      "8, 4, 2, 1.",
    reason: "in a backlog all are old, and age no longer tells vip from batch",
  },
  max_extra_ratio: {
    kind: "number",
    min: 0,
    max: 1,
    default: 0.25,
    doc:
      "How far `max_concurrency_per_node` and `max_concurrency` may be exceeded meanwhile, in steps of 5 requests, as long " +
      "as latency and errors stay as they were; 0 = not at all. `max_conns` is never exceeded.",
    reason: "a limit has some reserve, and the steps find out; they go back when nodes become slower",
  },
};

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
      "each holds a connection and some 13 kB; a thousand is more than is served before the time-out of most upstreams",
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
  drain: {
    kind: "object",
    fields: drainOptions,
    expected: "a map of options, { from = 0.9 },",
    doc: "How a backlog is worked off, see below and [admission.md](admission.md#draining-a-backlog).",
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

/** Reports names that are no classes of the upstream. */
function checkClassNames(names: string[], known: string[], path: string, indexed: boolean, problems: Problems): void {
  for (let i = 0; i < names.length; i++) {
    if (known.includes(names[i])) continue;
    const near = suggest(names[i], known);
    const hint = near === undefined ? "" : `; did you mean "${near}"?`;
    const at = indexed ? positionPath(path, i + 1) : keyPath(path, names[i]);
    report(problems, at, `${quote(names[i])} is no class here; one of ${quotedList(known)} is needed${hint}`);
  }
}

/** Classes named in the options of the queue must be classes there are. Parameters as of ObjectCheck. */
export function checkQueue(record: Record<string, unknown>, path: string, problems: Problems): void {
  const queue = record["queue"] as Record<string, unknown> | undefined;
  if (queue === undefined) return;
  const known = sortedKeys((record["classes"] as Record<string, unknown> | undefined) ?? DEFAULT_CLASSES);
  const at = keyPath(path, "queue");
  const sizes = queue["class_sizes"] as Record<string, unknown> | undefined;
  if (sizes !== undefined) checkClassNames(sortedKeys(sizes), known, keyPath(at, "class_sizes"), false, problems);
  const drain = queue["drain"] as Record<string, unknown> | undefined;
  const weights = drain?.["class_weights"] as Record<string, unknown> | undefined;
  const drain_at = keyPath(at, "drain");
  if (weights !== undefined) {
    checkClassNames(sortedKeys(weights), known, keyPath(drain_at, "class_weights"), false, problems);
  }
  const refuse = drain?.["refuse"] as unknown[] | undefined;
  if (refuse === undefined) return;
  const names: string[] = [];
  for (let i = 0; i < refuse.length; i++) names[i] = typeof refuse[i] === "string" ? (refuse[i] as string) : known[0];
  checkClassNames(names, known, keyPath(drain_at, "refuse"), true, problems);
}
