/** Arguments that several commands take, and what is said of wrong ones: one line, with what is allowed. */
import { InvalidArgumentError } from "commander";
import { suggest } from "../../resty/ax/core/config/suggest";
import { strategies } from "../../resty/ax/core/strategies/registry";

/** What was asked for cannot be done: shown in one line, exit code 2. */
export class UsageError extends Error {}

/** Every strategy of the library, by name. */
export const STRATEGY_NAMES = Object.keys(strategies).sort();

/** @returns a reader for commander's options: whole numbers from `least` to `most`, in digits */
export function wholeNumber(least: number, most: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (!/^\d+$/.test(text) || value < least || value > most) {
      throw new InvalidArgumentError(`A whole number from ${least} to ${most} is allowed.`);
    }
    return value;
  };
}

/** @returns `; did you mean "adaptive"?` when a known name is near enough to be meant, else nothing */
export function hintFor(name: string, known: string[]): string {
  const meant = suggest(name, known);
  return meant === undefined ? "" : `; did you mean "${meant}"?`;
}

/** @throws UsageError with what there is, and what may have been meant, when `name` is none of them */
export function checkName(kind: string, name: string, known: string[]): void {
  if (known.includes(name)) return;
  throw new UsageError(`no ${kind} "${name}"; allowed are: ${known.join(", ")}${hintFor(name, known)}`);
}

/** @throws UsageError when the library has no such strategy */
export function checkStrategy(name: string): void {
  checkName("strategy", name, STRATEGY_NAMES);
}
