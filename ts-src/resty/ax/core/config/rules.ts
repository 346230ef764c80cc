import { checkAdaptiveLimit } from "./flow_options";
import { checkHashKey } from "./hash_key";
import { checkNodes } from "./nodes";
import { checkClasses } from "./placement_options";
import { keyPath, type Problems, report } from "./problems";
import { checkQueue } from "./queue_options";
import { isAbsent, showNumber } from "./show";
import type { StrategyOptions } from "./upstream_options";
import { validate } from "./validate";

/** Rules over several options of one upstream. */

/** The long window must hold the short one at least so many times, or it smooths nothing. */
export const MIN_WINDOW_RATIO = 2;

/** The value as messages show it: a default is called one, for the user did not write it. */
function shown(key: string, value: number, raw: Record<string, unknown>): string {
  return showNumber(value) + (isAbsent(raw[key]) ? " (the default)" : "");
}

function checkWindows(
  record: Record<string, unknown>,
  raw: Record<string, unknown>,
  path: string,
  problems: Problems,
): void {
  const short_s = record["window_short_s"] as number | undefined;
  const long_s = record["window_long_s"] as number | undefined;
  if (short_s === undefined || long_s === undefined || long_s >= MIN_WINDOW_RATIO * short_s) return;
  const least = showNumber(MIN_WINDOW_RATIO * short_s);
  report(
    problems,
    keyPath(path, "window_long_s"),
    `${shown("window_long_s", long_s, raw)} is less than ${MIN_WINDOW_RATIO} times window_short_s, ` +
      `which is ${shown("window_short_s", short_s, raw)}; at least ${least} s is needed`,
  );
}

function checkErrorRates(
  record: Record<string, unknown>,
  raw: Record<string, unknown>,
  path: string,
  problems: Problems,
): void {
  const from = record["error_penalty_from"] as number | undefined;
  const eject = record["eject_error_rate"] as number | undefined;
  if (from === undefined || eject === undefined || eject > from) return;
  report(
    problems,
    keyPath(path, "eject_error_rate"),
    `${shown("eject_error_rate", eject, raw)} is not more than error_penalty_from, ` +
      `which is ${shown("error_penalty_from", from, raw)}; more is needed`,
  );
}

function checkCoolDown(
  record: Record<string, unknown>,
  raw: Record<string, unknown>,
  path: string,
  problems: Problems,
): void {
  const first_s = record["cool_down_s"] as number | undefined;
  const max_s = record["cool_down_max_s"] as number | undefined;
  if (first_s === undefined || max_s === undefined || max_s >= first_s) return;
  report(
    problems,
    keyPath(path, "cool_down_max_s"),
    `${shown("cool_down_max_s", max_s, raw)} is less than cool_down_s, ` +
      `which is ${shown("cool_down_s", first_s, raw)}; at least ${showNumber(first_s)} s is needed`,
  );
}

/**
 * Checks one upstream as a whole, and validates the strategy's options, filling in their defaults.
 * Rules about a field that has a problem already are left out. Parameters as of ObjectCheck.
 * @param strategies options of every built-in strategy, by its name
 */
export function checkUpstream(
  strategies: StrategyOptions,
  record: Record<string, unknown>,
  raw: Record<string, unknown>,
  path: string,
  problems: Problems,
): void {
  checkWindows(record, raw, path, problems);
  checkErrorRates(record, raw, path, problems);
  checkCoolDown(record, raw, path, problems);
  checkClasses(record, raw, path, problems);
  checkQueue(record, path, problems);
  checkAdaptiveLimit(record, path, problems);
  checkHashKey(record, path, problems);
  const strategy = record["strategy"] as string | undefined;
  const fields = strategy === undefined ? undefined : strategies[strategy];
  const options = record["strategy_options"];
  if (isAbsent(raw["strategy_module"]) && fields !== undefined && options !== undefined) {
    record["strategy_options"] = validate(options, fields, keyPath(path, "strategy_options"), problems);
  }
  const nodes = record["nodes"] as unknown[] | undefined;
  if (nodes !== undefined) checkNodes(nodes, keyPath(path, "nodes"), problems);
}
