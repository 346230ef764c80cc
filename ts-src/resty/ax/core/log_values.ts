/**
 * Values of nginx's log variables as numbers, by a look-up instead of a conversion: there are few different ones, and
 * converting "0.012" costs LuaJIT about as much as a whole pick (docs/performance.md). Both tables are
 * filled once, when the module is loaded, and never change; the caller converts what is not in them.
 */

const STATUS_MIN = 100;
const STATUS_MAX = 599;

/** Longer times are rare, and nobody notices what converting them costs. */
const TABLE_MS = 1000;

function statusTable(): Record<string, number | undefined> {
  const table: Record<string, number | undefined> = {};
  for (let status = STATUS_MIN; status <= STATUS_MAX; status++) table[`${status}`] = status;
  return table;
}

function timeTable(): Record<string, number | undefined> {
  const table: Record<string, number | undefined> = {};
  for (let ms = 0; ms < TABLE_MS; ms++) {
    const zeros = ms < 10 ? "00" : ms < 100 ? "0" : "";
    table[`0.${zeros}${ms}`] = ms;
  }
  return table;
}

const statuses = statusTable();
const times_ms = timeTable();

/** @returns the status of a single try as nginx writes it, 100..599; undefined for "-" and for lists of tries */
export function statusOf(text: string): number | undefined {
  return statuses[text];
}

/** @returns ms, of a time below a second as nginx writes it, in seconds ("0.012"); undefined for all else */
export function shortTimeOf(text: string): number | undefined {
  return times_ms[text];
}
