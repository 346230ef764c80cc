import { checkClassSource, DEFAULT_CLASSES, parseClassSource } from "../classes";
import { keyPath, type Problems, report } from "./problems";
import type { FieldSchema } from "./schema";
import { isAbsent, quote, sortedKeys } from "./show";
import { suggest } from "./suggest";
import { checkName } from "./texts";
import { quotedList } from "./describe";

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
    kind: "string",
    check: checkClassSource,
    expected: '"$variable", "header:Name" or the name of a class',
    doc:
      "Where the class of a request comes from: `$variable`, `header:Name`, or the name of a class for all requests " +
      "([classes.md](classes.md)). Unknown classes are normal. Without it all requests are alike.",
  },
  classes: {
    kind: "map",
    of: {
      kind: "enum",
      values: ["batch", "normal", "vip"],
      doc: "What the class stands for: `vip`, `normal` or `batch`.",
    },
    non_empty: true,
    key_doc: "class",
    key_check: checkName,
    expected: 'a map of class names to what they stand for, { trading = "vip", reports = "batch" },',
    doc:
      "Names of classes, and what they stand for: `vip` goes to the least loaded nodes, `batch` keeps away from busy ones. " +
      "Without it the classes are `vip`, `normal` and `batch`.",
  },
};

/** A class source that names a class must name one there is. Parameters as of ObjectCheck. */
export function checkClasses(
  record: Record<string, unknown>,
  raw: Record<string, unknown>,
  path: string,
  problems: Problems,
): void {
  const text = record["class_source"] as string | undefined;
  const given = record["classes"] as Record<string, string> | undefined;
  if (text === undefined || (given === undefined && !isAbsent(raw["classes"]))) return;
  const constant = parseClassSource(text)?.constant;
  const known = sortedKeys(given ?? DEFAULT_CLASSES);
  if (constant === undefined || known.includes(constant)) return;
  const near = suggest(constant, known);
  const hint = near === undefined ? "" : `; did you mean "${near}"?`;
  const need = `"$variable", "header:Name" or one of ${quotedList(known)} is needed`;
  report(problems, keyPath(path, "class_source"), `${quote(constant)} is no class here; ${need}${hint}`);
}
