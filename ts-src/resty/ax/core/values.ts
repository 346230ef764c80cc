/** What comes from the shared store was written by another process, perhaps of another version: nothing is taken on trust. */

/** @returns the value if it is a table, else undefined */
export function asRecord(value: unknown): Record<string, unknown> | undefined {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : undefined;
}

/** @returns the value if it is a number from 0 up, else 0 */
export function asCount(value: unknown): number {
  return typeof value === "number" && value >= 0 && value < Infinity ? value : 0;
}

/** @returns the value if it is a finite number, else undefined */
export function asNumber(value: unknown): number | undefined {
  return typeof value === "number" && value > -Infinity && value < Infinity ? value : undefined;
}

/**
 * @param scale 10, 100, …: one, two, … decimals are kept
 * @returns the number with enough decimals to read, for a short text on the wire
 */
export function round(value: number, scale: number): number {
  return Math.floor(value * scale + 0.5) / scale;
}

/** @returns the text with spaces behind it, which JSON allows, up to a length: a value that always fits where it was */
export function padded(text: string, length: number): string {
  return text + " ".repeat(Math.max(0, length - text.length));
}
