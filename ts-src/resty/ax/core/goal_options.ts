import { keyPath, type Problems, report } from "./config/problems";
import type { FieldSchema } from "./config/schema";
import { sortedKeys } from "./config/show";
import { GOALS } from "./goals";
import { NORMALISERS, SIGNALS } from "./scoring";

/** The normaliser `share` is for shares. Parameters as of ObjectCheck. */
function checkPart(record: Record<string, unknown>, _raw: unknown, path: string, problems: Problems): void {
  const name = record["name"] as string | undefined;
  if (record["normaliser"] !== "share" || name === undefined || SIGNALS[name].is_share) return;
  report(problems, keyPath(path, "normaliser"), `"share" takes signals that are shares (0..1); "${name}" is none`);
}

/** The options of the strategy `goal`. */
export const goalOptions: Record<string, FieldSchema> = {
  goal: {
    kind: "enum",
    values: sortedKeys(GOALS),
    default: "latency",
    doc: "What to aim for.",
    reason: "what most people look at first",
  },
  signals: {
    kind: "list",
    non_empty: true,
    expected: 'a list of signals, { { name = "latency", weight = 0.7 }, ... },',
    doc: "What a node is scored by, instead of the goal's own signals.",
    of: {
      kind: "object",
      expected: 'a signal, { name = "latency", weight = 0.7 },',
      doc: "One signal.",
      check: checkPart,
      fields: {
        name: { kind: "enum", values: sortedKeys(SIGNALS), default: "latency", doc: "The signal." },
        weight: { kind: "number", min: 0.001, max: 1000, default: 1, doc: "Its part of the score." },
        normaliser: {
          kind: "enum",
          values: sortedKeys(NORMALISERS),
          default: "percentile",
          doc: "How it is brought to 0..1.",
          reason: "one node far off flattens nobody",
        },
        direction: { kind: "enum", values: ["high", "low"], doc: "Which end is good, instead of the signal's own." },
      },
    },
  },
  ceiling: {
    kind: "number",
    min: 0.01,
    max: 1,
    doc:
      "Share of a node's capacity in flight from which it gets nothing while another is under its own. " +
      "Default: 0.8 for `cost`, 0.7 for `stability`, else 1.",
  },
};
