/**
 * JSON for people and programs to read: keys in a fixed order, slashes as they are, always valid UTF-8, indented on
 * request. nginx's cjson does none of this.
 */

/** Stands for a list without entries: an empty table alone could be an object as well. */
const EMPTY_LIST: unknown[] = [];

/** @returns the list, marked so that it is written as [] when it is empty */
export function jsonList<T>(items: T[]): T[] {
  return items.length === 0 ? (EMPTY_LIST as T[]) : items;
}

/** Come first, in this order; the rest follows alphabetically. */
const LEADING = [
  "status",
  "code",
  "id",
  "name",
  "address",
  "state",
  "reason",
  "operator",
  "kind",
  "since_s",
  "until_s",
];

/** And these come last, in this order: what is long. */
const TRAILING = ["totals", "warnings", "faults", "events", "nodes", "upstreams"];

const RANKS: Record<string, number | undefined> = {};
for (let i = 0; i < LEADING.length; i++) RANKS[LEADING[i]] = i - LEADING.length;
for (let i = 0; i < TRAILING.length; i++) RANKS[TRAILING[i]] = i + 1;

function sortedKeys(record: Record<string, unknown>): string[] {
  const keys: string[] = [];
  for (const [key] of pairs(record)) keys.push(key);
  table.sort(keys, (a, b) => {
    const rank_a = RANKS[a] ?? 0;
    const rank_b = RANKS[b] ?? 0;
    return rank_a === rank_b ? a < b : rank_a < rank_b;
  });
  return keys;
}

const ESCAPES: Record<string, string> = { '"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t" };

function escape(char: string): string {
  return ESCAPES[char] ?? string.format("\\u%04x", string.byte(char));
}

/** U+FFFD, in UTF-8. */
const REPLACEMENT = "\u{fffd}";

/** Bytes that follow the first one of a UTF-8 sequence; -1: it begins none. RFC 3629. */
function followers(byte: number): number {
  if (byte < 128) return 0;
  if (byte >= 194 && byte <= 223) return 1;
  if (byte >= 224 && byte <= 239) return 2;
  return byte >= 240 && byte <= 244 ? 3 : -1;
}

/** Lowest and highest second byte where not every one will do: overlong forms, surrogates, past U+10FFFF. */
function secondFits(first: number, second: number): boolean {
  if (first === 224) return second >= 160;
  if (first === 237) return second < 160;
  if (first === 240) return second >= 144;
  return first !== 244 || second < 144;
}

function sequenceAt(text: string, at: number): number {
  const first = string.byte(text, at);
  const more = followers(first);
  if (more < 0) return 0;
  for (let k = 1; k <= more; k++) {
    const byte = string.byte(text, at + k) as number | undefined;
    if (byte === undefined || byte < 128 || byte > 191 || (k === 1 && !secondFits(first, byte))) return 0;
  }
  return more + 1;
}

/** @returns the text with whatever is no UTF-8 replaced */
function validUtf8(text: string): string {
  const [high] = string.find(text, "[^%z\x01-\x7f]");
  if (high === undefined) return text;
  const parts: string[] = [];
  let at = 1;
  while (at <= text.length) {
    const length = sequenceAt(text, at);
    parts.push(length > 0 ? string.sub(text, at, at + length - 1) : REPLACEMENT);
    at += Math.max(1, length);
  }
  return table.concat(parts);
}

function stringText(text: string): string {
  const [escaped] = string.gsub(validUtf8(text), '[%c"\\]', escape);
  return `"${escaped}"`;
}

function numberText(value: number): string {
  // JSON has no infinity and no NaN.
  if (!(value > -Infinity && value < Infinity)) return "null";
  return string.format("%.14g", value);
}

/** Where the text is collected, and how deep in it we are. */
interface Writer {
  parts: string[];
  pretty: boolean;
  depth: number;
}

function newLine(writer: Writer): void {
  if (writer.pretty) writer.parts.push("\n" + string.rep("  ", writer.depth));
}

function writeList(writer: Writer, items: unknown[]): void {
  writer.parts.push("[");
  writer.depth++;
  for (let i = 0; i < items.length; i++) {
    if (i > 0) writer.parts.push(",");
    newLine(writer);
    write(writer, items[i]);
  }
  writer.depth--;
  if (items.length > 0) newLine(writer);
  writer.parts.push("]");
}

function writeObject(writer: Writer, record: Record<string, unknown>): void {
  const keys = sortedKeys(record);
  writer.parts.push("{");
  writer.depth++;
  for (let i = 0; i < keys.length; i++) {
    if (i > 0) writer.parts.push(",");
    newLine(writer);
    writer.parts.push(stringText(keys[i]) + (writer.pretty ? ": " : ":"));
    write(writer, record[keys[i]]);
  }
  writer.depth--;
  if (keys.length > 0) newLine(writer);
  writer.parts.push("}");
}

function write(writer: Writer, value: unknown): void {
  if (typeof value === "string") writer.parts.push(stringText(value));
  else if (typeof value === "number") writer.parts.push(numberText(value));
  else if (typeof value === "boolean") writer.parts.push(value ? "true" : "false");
  else if (type(value) !== "table") writer.parts.push("null");
  else if (value === EMPTY_LIST || (value as unknown[]).length > 0) writeList(writer, value as unknown[]);
  else writeObject(writer, value as Record<string, unknown>);
}

/**
 * @param value of tables, strings, numbers and booleans; lists that may be empty made by `jsonList`
 * @param pretty one field a line, indented
 */
export function documentText(value: unknown, pretty: boolean): string {
  const writer: Writer = { parts: [], pretty, depth: 0 };
  write(writer, value);
  return table.concat(writer.parts);
}
