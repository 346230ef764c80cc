import { needText, quotedList, quotingHint } from "./describe";
import { keyPath, positionPath, type Problems, report } from "./problems";
import type { EnumField, FieldSchema, ListField, MapField, NumberField, ObjectField, StringField } from "./schema";
import { isAbsent, isTable, shapeOf, showNumber, showValue, sortedKeys } from "./show";
import { suggest } from "./suggest";

/**
 * The validation engine: walks a value along a schema, collects every problem, fills in defaults.
 * It follows the schema, never the value, so deep or cyclic values cannot keep it busy.
 */

/** In a list, stands for an entry that has a problem: keeps the positions of the others. */
export const UNUSABLE = false;

/** More known keys than this are not listed for an unknown one: a line of the log has an end. */
const MAX_KNOWN_LISTED = 10;

function reportWrongType(field: FieldSchema, key: string, value: unknown, path: string, problems: Problems): void {
  const need = `${needText(field, key)} is needed`;
  const type = typeof value;
  const simple = type === "string" || type === "number" || type === "boolean";
  const given = simple ? `${showValue(value)} is a ${type}` : `${showValue(value)} is given`;
  report(problems, path, `${given}; ${need}${quotingHint(field, key, value)}`);
}

function validateNumber(value: unknown, field: NumberField, key: string, path: string, problems: Problems): unknown {
  if (typeof value !== "number") {
    reportWrongType(field, key, value, path, problems);
    return undefined;
  }
  if (value === 0 && field.or_zero === true) return value;
  let wrong: string | undefined;
  if (Number.isNaN(value) || value === Infinity || value === -Infinity) wrong = "is not a finite number";
  else if (value < field.min) wrong = "is too small";
  else if (value > field.max) wrong = "is too large";
  else if (field.integer === true && value !== Math.floor(value)) wrong = "is not a whole number";
  if (wrong === undefined) return value;
  report(problems, path, `${showNumber(value)} ${wrong}; ${needText(field, key)} is needed`);
  return undefined;
}

function validateString(value: unknown, field: StringField, key: string, path: string, problems: Problems): unknown {
  if (typeof value !== "string") {
    reportWrongType(field, key, value, path, problems);
    return undefined;
  }
  const wrong = field.check === undefined ? undefined : field.check(value);
  if (wrong === undefined) return value;
  report(problems, path, `${showValue(value)} ${wrong}`);
  return undefined;
}

function validateEnum(value: unknown, field: EnumField, key: string, path: string, problems: Problems): unknown {
  if (typeof value !== "string") {
    reportWrongType(field, key, value, path, problems);
    return undefined;
  }
  if (field.values.includes(value)) return value;
  const near = suggest(value, field.values);
  const hint = near === undefined ? "" : `; did you mean "${near}"?`;
  report(problems, path, `${showValue(value)} is not known; ${needText(field, key)} is needed${hint}`);
  return undefined;
}

function validateList(value: unknown, field: ListField, key: string, path: string, problems: Problems): unknown {
  const shape = isTable(value) ? shapeOf(value) : undefined;
  if (shape === undefined || (shape.kind !== "list" && shape.kind !== "empty")) {
    reportWrongType(field, key, value, path, problems);
    return undefined;
  }
  if (shape.size === 0 && field.non_empty === true) {
    report(problems, path, `is empty; ${needText(field, key)} is needed`);
    return undefined;
  }
  const entries = value as unknown[];
  const valid: unknown[] = [];
  for (let i = 0; i < shape.size; i++) {
    const entry_path = positionPath(path, i + 1);
    if (isAbsent(entries[i])) report(problems, entry_path, `is missing; ${needText(field.of, "")} is needed`);
    valid.push(validateField(entries[i], field.of, "", entry_path, problems) ?? UNUSABLE);
  }
  return valid;
}

/** Reports the keys that are no strings: in Lua, positions (`{ "x", a = 1 }`) and worse. */
function reportOddKeys(table: Record<string, unknown>, path: string, problems: Problems): void {
  const odd: string[] = [];
  const texts: Record<string, string> = {};
  for (const key in table) {
    const raw: unknown = key;
    if (typeof raw === "string") continue;
    const shown = showValue(raw);
    odd.push(shown);
    texts[shown] =
      `${showValue(table[key])} has no name: its key is ${typeof raw === "number" ? "the number " : ""}${shown}`;
  }
  odd.sort();
  for (let i = 0; i < odd.length; i++) {
    report(problems, `${path}[${odd[i]}]`, `${texts[odd[i]]}; write name = value`);
  }
}

/** @returns whether the value can be read as a map; reports it otherwise */
function isMap(value: unknown, field: FieldSchema, key: string, path: string, problems: Problems): boolean {
  if (isTable(value)) {
    const kind = shapeOf(value).kind;
    if (kind !== "list" && kind !== "holes") return true;
  }
  reportWrongType(field, key, value, path, problems);
  return false;
}

function validateMap(value: unknown, field: MapField, key: string, path: string, problems: Problems): unknown {
  if (!isMap(value, field, key, path, problems)) return undefined;
  const table = value as Record<string, unknown>;
  reportOddKeys(table, path, problems);
  const valid: Record<string, unknown> = {};
  const keys = sortedKeys(table);
  let count = 0;
  for (let i = 0; i < keys.length; i++) {
    const name = keys[i];
    if (isAbsent(table[name])) continue;
    count++;
    const entry_path = keyPath(path, name);
    const wrong = field.key_check === undefined ? undefined : field.key_check(name);
    if (wrong !== undefined) report(problems, entry_path, `the name ${showValue(name)} ${wrong}`);
    const entry = validateField(table[name], field.of, name, entry_path, problems);
    if (entry !== undefined) valid[name] = entry;
  }
  if (count === 0 && field.non_empty === true) {
    report(problems, path, `is empty; ${needText(field, key)} is needed`);
    return undefined;
  }
  return valid;
}

function reportUnknownKeys(table: Record<string, unknown>, known: string[], path: string, problems: Problems): void {
  const keys = sortedKeys(table);
  // Once: the text is cut at about 2 kB, and other problems want to be seen, too.
  let was_listed = false;
  for (let i = 0; i < keys.length; i++) {
    if (known.includes(keys[i])) continue;
    const near = suggest(keys[i], known);
    let hint = "none here has a name like it";
    if (near !== undefined) hint = `did you mean "${near}"?`;
    else if (known.length === 0) hint = "there are no options here";
    else if (known.length <= MAX_KNOWN_LISTED && !was_listed) {
      hint = `known are ${quotedList(known)}`;
      was_listed = true;
    }
    report(problems, keyPath(path, keys[i]), `unknown key; ${hint}`);
  }
}

function validateObject(value: unknown, field: ObjectField, key: string, path: string, problems: Problems): unknown {
  if (!isMap(value, field, key, path, problems)) return undefined;
  const table = value as Record<string, unknown>;
  const record: Record<string, unknown> = {};
  const known = sortedKeys(field.fields);
  reportOddKeys(table, path, problems);
  reportUnknownKeys(table, known, path, problems);
  for (let i = 0; i < known.length; i++) {
    const name = known[i];
    const part = field.fields[name];
    const part_path = keyPath(path, name);
    const valid = isAbsent(table[name])
      ? whenAbsent(part, name, part_path, problems)
      : validateField(table[name], part, name, part_path, problems);
    if (valid !== undefined) record[name] = valid;
  }
  if (field.check !== undefined) field.check(record, table, path, problems);
  return record;
}

/** @returns the default of a field that was not given; undefined when there is none */
function whenAbsent(field: FieldSchema, key: string, path: string, problems: Problems): unknown {
  const kind = field.kind;
  if (kind === "number" || kind === "boolean" || kind === "enum") return field.default;
  if (kind === "any") return undefined;
  if (kind === "object" && field.optional === true) return undefined;
  if (kind === "object") return validateObject({}, field, key, path, problems);
  if (field.required === true) report(problems, path, `is missing; ${needText(field, key)} is needed`);
  if (kind === "string") return field.default;
  return kind === "map" && field.default_empty === true ? {} : undefined;
}

/** @returns the valid value; undefined when absent, or after reporting a problem */
function validateField(value: unknown, field: FieldSchema, key: string, path: string, problems: Problems): unknown {
  if (isAbsent(value)) return undefined;
  if (field.kind === "number") return validateNumber(value, field, key, path, problems);
  if (field.kind === "string") return validateString(value, field, key, path, problems);
  if (field.kind === "enum") return validateEnum(value, field, key, path, problems);
  if (field.kind === "list") return validateList(value, field, key, path, problems);
  if (field.kind === "map") return validateMap(value, field, key, path, problems);
  if (field.kind === "object") return validateObject(value, field, key, path, problems);
  if (field.kind === "any" || typeof value === "boolean") return value;
  reportWrongType(field, key, value, path, problems);
  return undefined;
}

/**
 * Validates a record against its fields.
 * @param value what the user gave; never written to, and no part of the result except under `any`
 * @param fields the known fields
 * @param path where the record stands, for messages; "" for the whole configuration
 * @param problems takes every problem found
 * @param check rules over several fields, run last
 * @returns a fresh record with defaults filled in; fields with a problem are absent from it, and list
 *   entries with one are UNUSABLE, so use it only when `problems` has none
 */
export function validate(
  value: unknown,
  fields: Record<string, FieldSchema>,
  path: string,
  problems: Problems,
  check?: ObjectField["check"],
): Record<string, unknown> {
  const record = validateObject(
    value,
    { kind: "object", doc: "", expected: "a map of options", fields, check },
    "",
    path,
    problems,
  );
  return record === undefined ? {} : (record as Record<string, unknown>);
}
