/** What is wrong with a scenario, in words: the key, the value it has, what is allowed, and what may have been meant. */
import { z } from "zod";
import { hintFor } from "../cli/arguments";

/** Values longer than this are cut in messages. */
const VALUE_MAX = 60;

/** "nodes[0].slots"; "" for the whole. */
function pathText(path: readonly PropertyKey[]): string {
  return path
    .map((part) => (typeof part === "number" ? `[${part}]` : `.${String(part)}`))
    .join("")
    .replace(/^\./, "");
}

function valueAt(raw: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>((value, part) => (value as Record<PropertyKey, unknown> | undefined)?.[part], raw);
}

/** The schema below wrappers such as default() and optional(). */
function bare(schema: z.ZodType): z.ZodType {
  if (schema instanceof z.ZodDefault || schema instanceof z.ZodPrefault || schema instanceof z.ZodOptional)
    return bare(schema.unwrap() as z.ZodType);
  return schema;
}

/** Keys that an object at a path may have. */
function keysAt(schema: z.ZodType, path: readonly PropertyKey[]): string[] {
  const here = bare(schema);
  const [first, ...rest] = path;
  if (here instanceof z.ZodArray) return keysAt(here.element as z.ZodType, rest);
  if (!(here instanceof z.ZodObject)) return [];
  if (first === undefined) return Object.keys(here.shape);
  const inner = (here.shape as Record<string, z.ZodType | undefined>)[String(first)];
  return inner === undefined ? [] : keysAt(inner, rest);
}

function unknownKey(schema: z.ZodType, path: readonly PropertyKey[], key: string): string {
  const allowed = keysAt(schema, path);
  const place = pathText([...path, key]);
  return `${place}: unknown key "${key}"; allowed are ${allowed.join(", ")}${hintFor(key, allowed)}`;
}

function shown(value: unknown): string {
  const text = value === undefined ? "nothing" : JSON.stringify(value);
  return text.length > VALUE_MAX ? `${text.slice(0, VALUE_MAX)}…` : text;
}

/**
 * @param raw what was read from the file
 * @returns one line per problem
 */
export function problemLines(schema: z.ZodType, raw: unknown, error: z.ZodError): string[] {
  return error.issues.flatMap((issue) => {
    if (issue.code === "unrecognized_keys") return issue.keys.map((key) => unknownKey(schema, issue.path, key));
    const place = pathText(issue.path);
    const value = valueAt(raw, issue.path);
    if (issue.code === "invalid_value") {
      const values = issue.values.map(String);
      const hint = typeof value === "string" ? hintFor(value, values) : "";
      return [`${place}: is ${shown(value)}; allowed are ${values.join(", ")}${hint}`];
    }
    return [`${place === "" ? "the file" : place}: is ${shown(value)}; ${issue.message}`];
  });
}
