import { checkCidr } from "../cidr";
import { DEFAULT_CLASSES, parseClassSource } from "../classes";
import { MEANINGS, priorityOf } from "../priority";
import { keyPath, type Problems, report } from "./problems";
import type { FieldSchema } from "./schema";
import { isAbsent, quote, showValue, sortedKeys } from "./show";
import { suggest } from "./suggest";
import { checkName } from "./texts";
import { quotedList } from "./describe";

/** What `class_source` takes, for messages. */
const CLASS_FORMS = '"$variable", "header:Name", the name of a class, or in a Lua table a function that returns one,';

/** Options of one upstream about where requests go before the strategy has its say: zones and classes. */
export const placementFields: Record<string, FieldSchema> = {
  zone: {
    kind: "string",
    check: checkName,
    doc:
      "Where this gateway stands. Nodes with the same `zone` are preferred while they have capacity; what does not fit " +
      "goes to the others ([zones.md](zones.md)). Without it all nodes are alike.",
  },
  class_source: {
    kind: "any",
    expected: CLASS_FORMS,
    doc:
      "Where the class of a request comes from: `$variable`, `header:Name`, the name of a class for all requests, or, in a " +
      "Lua table, a function that returns the name of one ([classes.md](classes.md)). Unknown classes are normal. Without " +
      "it all requests are alike.",
  },
  classes: {
    kind: "map",
    of: { kind: "any", doc: "What the class stands for: `vip`, `normal`, `batch`, or a priority 1..5." },
    non_empty: true,
    key_doc: "class",
    key_check: checkName,
    expected: 'a map of class names to what they stand for, { trading = "vip", reports = "batch" },',
    doc:
      "Names of classes, and what they stand for: `vip` goes to the least loaded nodes, `batch` keeps away from busy ones. " +
      "In the admission queue they have priority 1 (`vip`), 3 (`normal`) and 5 (`batch`); a number 1..5 names the priority " +
      "itself. Without it the classes are `vip`, `normal` and `batch`.",
  },
  trust_client_class: {
    kind: "boolean",
    default: false,
    doc:
      "Whether a client may promote itself. A class that the client itself writes (`header:…`, `$http_…`, `$arg_…`, " +
      "`$cookie_…`) is taken as normal when it stands for more than that, unless this is `true` or the client is one of " +
      "`trusted_clients`.",
    reason: "a header is anybody's word: with it everybody is vip",
  },
  trusted_clients: {
    kind: "list",
    of: { kind: "string", check: checkCidr, expected: "an address or a range", doc: "An address or a range." },
    non_empty: true,
    expected: 'a list of addresses and ranges, { "10.0.0.0/8", "2001:db8::1" },',
    doc: "Clients, by the address of the connection (or of the realip module), whose own word about their class is taken.",
  },
};

function checkMeanings(classes: Record<string, unknown>, path: string, problems: Problems): void {
  const names = sortedKeys(classes);
  for (let i = 0; i < names.length; i++) {
    const given = classes[names[i]];
    if (priorityOf(given) !== undefined) continue;
    const near = typeof given === "string" ? suggest(given, ["batch", "normal", "vip"]) : undefined;
    const hint = near === undefined ? "" : `; did you mean "${near}"?`;
    report(problems, keyPath(path, names[i]), `${showValue(given)} is not known; ${MEANINGS} is needed${hint}`);
  }
}

/** A class source that names a class must name one there is. Parameters as of ObjectCheck. */
export function checkClasses(
  record: Record<string, unknown>,
  raw: Record<string, unknown>,
  path: string,
  problems: Problems,
): void {
  const source = record["class_source"];
  const given = record["classes"] as Record<string, unknown> | undefined;
  if (given !== undefined) checkMeanings(given, keyPath(path, "classes"), problems);
  if (isAbsent(source) || typeof source === "function") return;
  const source_path = keyPath(path, "class_source");
  if (typeof source !== "string") {
    report(problems, source_path, `${showValue(source)} is given; ${CLASS_FORMS} is needed`);
    return;
  }
  const parsed = source === "" ? undefined : parseClassSource(source);
  if (parsed === undefined) {
    report(problems, source_path, `${quote(source)} is no class source; ${CLASS_FORMS} is needed`);
    return;
  }
  const constant = parsed.constant;
  if (constant === undefined || (given === undefined && !isAbsent(raw["classes"]))) return;
  const known = sortedKeys(given ?? DEFAULT_CLASSES);
  if (known.includes(constant)) return;
  const near = suggest(constant, known);
  const hint = near === undefined ? "" : `; did you mean "${near}"?`;
  const need = `"$variable", "header:Name" or one of ${quotedList(known)} is needed`;
  report(problems, source_path, `${quote(constant)} is no class here; ${need}${hint}`);
}
