import type { FieldSchema, NumberField } from "./schema";
import { quote, showNumber } from "./show";

/**
 * What a field takes, in words: for messages and for the reference page.
 */

/** @returns the unit a field's name ends in: "s", "ms", or "" */
export function unitOf(key: string): string {
  if (key.endsWith("_ms")) return "ms";
  return key.endsWith("_s") ? "s" : "";
}

/**
 * @param key the field's name: its end is the unit
 * @returns for instance "1..60 s", or "0 or 1..60 s"
 */
export function rangeText(field: NumberField, key: string): string {
  const unit = unitOf(key);
  const zero = field.or_zero === true ? "0 or " : "";
  return `${zero}${showNumber(field.min)}..${showNumber(field.max)}${unit === "" ? "" : " " + unit}`;
}

/** @returns the texts in quotes, separated by commas */
export function quotedList(texts: string[]): string {
  let list = "";
  for (let i = 0; i < texts.length; i++) list += (i > 0 ? ", " : "") + quote(texts[i]);
  return list;
}

/** @returns what the field takes, to be read before "is needed" */
export function needText(field: FieldSchema, key: string): string {
  if (field.expected !== undefined) return field.expected;
  if (field.kind === "number") return `a ${field.integer === true ? "whole " : ""}number ${rangeText(field, key)}`;
  if (field.kind === "boolean") return "true or false";
  if (field.kind === "enum") return `one of ${quotedList(field.values)}`;
  if (field.kind === "string") return "a string";
  if (field.kind === "list") return "a list";
  if (field.kind === "any") return "a value";
  return "a map";
}

function isDigit(code: number): boolean {
  return code >= 48 && code <= 57;
}

/**
 * Reads a plain decimal number at the start of a text.
 * @returns its length, 0 when there is none
 */
function numberLength(text: string): number {
  let digits = 0;
  let points = 0;
  let i = text.startsWith("-") ? 1 : 0;
  while (i < text.length) {
    const code = text.charCodeAt(i);
    if (isDigit(code)) digits++;
    else if (code === 46 && points === 0) points++;
    else break;
    i++;
  }
  return digits > 0 ? i : 0;
}

/** Longest text taken for a number with a unit behind it, like "500ms". */
const MAX_NUMBER_TEXT = 20;

/**
 * Strings are never taken for numbers or booleans; this tells how to write what was probably meant.
 * @returns for instance " (write 5 without quotes)", or ""
 */
export function quotingHint(field: FieldSchema, key: string, value: unknown): string {
  if (typeof value !== "string" || value.length > MAX_NUMBER_TEXT) return "";
  if (field.kind === "boolean" && (value === "true" || value === "false")) return ` (write ${value} without quotes)`;
  if (field.kind !== "number") return "";
  const length = numberLength(value);
  if (length === 0) return "";
  if (length === value.length) return ` (write ${value} without quotes)`;
  const unit = unitOf(key);
  for (let i = length; i < value.length; i++) {
    const code = value.charCodeAt(i);
    if (!((code >= 97 && code <= 122) || (code >= 65 && code <= 90))) return "";
  }
  return unit === "" ? "" : ` (write a plain number; the unit is ${unit}, as the name says)`;
}
