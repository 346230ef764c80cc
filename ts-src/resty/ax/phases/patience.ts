import type { Upstream } from "../dataplane/upstream";
import { variable } from "../nginx/request";

/** Nine digits are eleven days: more is no patience but nonsense. */
const DIGITS_MAX = 9;

/** @returns the number, or undefined when the text is anything but 1..9 digits */
function wholeNumber(text: string): number | undefined {
  if (text.length === 0 || text.length > DIGITS_MAX) return undefined;
  const [found] = string.find(text, "^%d+$");
  return found === undefined ? undefined : tonumber(text);
}

/** @returns how long the client will still wait, ms, by its deadline header; Infinity = it does not say */
export function patienceMs(upstream: Upstream): number {
  const name = upstream.door.deadline_variable;
  if (name === undefined) return Infinity;
  return wholeNumber(variable(name) ?? "") ?? Infinity;
}
