/**
 * Values as messages show them: short, on one line, the same in Lua and JavaScript. Lua has one
 * table type, so what a table is (list, map, …) is found by looking at its keys.
 */

/** Longest string shown whole, in bytes (Lua) or UTF-16 units (JavaScript). */
const MAX_SHOWN = 60;

/** Keys of a map shown before "and n more". */
const MAX_KEYS_SHOWN = 3;

const HEX = "0123456789abcdef";

/** @returns whether the value is absent: undefined/nil, or JSON null (in Lua a userdata, the NULL pointer) */
export function isAbsent(value: unknown): boolean {
  if (value === undefined || value === null) return true;
  const type: string = typeof value;
  return type === "userdata" && `${value as number}` === "userdata: NULL";
}

/** @returns whether the value is a table (Lua), an object or array (JavaScript) */
export function isTable(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}

/** Where to cut a long string so that no UTF-8 sequence is split (in Lua, strings are bytes). */
function cutAt(text: string): number {
  let end = MAX_SHOWN;
  while (end > MAX_SHOWN - 4) {
    const code = text.charCodeAt(end);
    if (code < 128 || code > 191) break;
    end--;
  }
  return end;
}

/** @returns the text in double quotes, control characters escaped, cut when long */
export function quote(text: string): string {
  const cut = text.length > MAX_SHOWN;
  const end = cut ? cutAt(text) : text.length;
  let shown = "";
  for (let i = 0; i < end; i++) {
    const code = text.charCodeAt(i);
    if (code === 34 || code === 92) shown += "\\" + text.charAt(i);
    else if (code === 10) shown += "\\n";
    else if (code < 32 || code === 127) shown += "\\x" + HEX.charAt(Math.floor(code / 16)) + HEX.charAt(code % 16);
    else shown += text.charAt(i);
  }
  return cut ? `"${shown}..."` : `"${shown}"`;
}

/** @returns the number as text, special values in words */
export function showNumber(value: number): string {
  if (Number.isNaN(value)) return "NaN";
  if (value === Infinity) return "infinity";
  if (value === -Infinity) return "-infinity";
  return value === 0 ? "0" : `${value}`;
}

/** @returns the string keys of a table, sorted: neither language promises an order */
export function sortedKeys(table: Record<string, unknown>): string[] {
  const keys: string[] = [];
  for (const key in table) {
    if (typeof (key as unknown) === "string") keys.push(key);
  }
  keys.sort();
  return keys;
}

/**
 * - "empty": both a list and a map
 * - "list": positions 1..size without holes
 * - "holes": positions only, some missing
 * - "map": no positions
 * - "mixed": positions and other keys
 */
export interface Shape {
  kind: "empty" | "list" | "holes" | "map" | "mixed";
  /** Entries. */
  size: number;
}

/** @returns what kind of table it is, by its keys */
export function shapeOf(table: Record<string, unknown>): Shape {
  let size = 0;
  let positions = 0;
  let highest = 0;
  for (const key in table) {
    size++;
    // Only in Lua: in JavaScript keys are strings and lists are found by Array.isArray.
    const raw: unknown = key;
    if (typeof raw === "number" && raw >= 1 && raw === Math.floor(raw)) {
      positions++;
      if (raw > highest) highest = raw;
    }
  }
  if (size === 0) return { kind: "empty", size };
  if (positions === 0) {
    if (!Array.isArray(table)) return { kind: "map", size };
    const length = (table as unknown[]).length;
    return { kind: "list", size: length };
  }
  if (positions < size) return { kind: "mixed", size };
  return { kind: highest === size ? "list" : "holes", size };
}

function showKeys(table: Record<string, unknown>, size: number): string {
  const keys = sortedKeys(table);
  let text = "";
  const shown = keys.length < MAX_KEYS_SHOWN ? keys.length : MAX_KEYS_SHOWN;
  for (let i = 0; i < shown; i++) text += (i > 0 ? ", " : "") + quote(keys[i]);
  if (shown === 0) return `${size} ${size === 1 ? "key" : "keys"}`;
  const left = size - shown;
  return `the ${size === 1 ? "key" : "keys"} ${text}${left > 0 ? ` and ${left} more` : ""}`;
}

function showTable(table: Record<string, unknown>): string {
  const shape = shapeOf(table);
  if (shape.kind === "empty") return "an empty table";
  if (shape.kind === "list") return `a list of ${shape.size} ${shape.size === 1 ? "entry" : "entries"}`;
  if (shape.kind === "holes") return `a list of ${shape.size} with holes in it`;
  if (shape.kind === "mixed") return `a mixture of list and map, with ${showKeys(table, shape.size)},`;
  return `a map with ${showKeys(table, shape.size)}`;
}

/** @returns the value as messages show it */
export function showValue(value: unknown): string {
  if (isAbsent(value)) return "nothing";
  if (typeof value === "string") return quote(value);
  if (typeof value === "number") return showNumber(value);
  if (typeof value === "boolean") return value ? "true" : "false";
  if (isTable(value)) return showTable(value);
  return `a ${typeof value}`;
}
