/** Which scenarios and contenders a run is for. */
import { OURS } from "./contenders";
import { type Scenario, SCENARIOS } from "./scenarios";

/** What was asked for cannot be done: shown in one line. */
export class UsageError extends Error {}

export const SCENARIO_NAMES = SCENARIOS.map(({ name }) => name);

/** Stands for the cost of a pick, which needs no nginx. */
const PICK = "pick";

function named(kind: string, wanted: string, known: string[]): string[] {
  const names = wanted.split(",").map((text) => text.trim());
  const unknown = names.find((name) => !known.includes(name));
  if (unknown === undefined) return names;
  throw new UsageError(`no ${kind} "${unknown}"; allowed are: ${known.join(", ")}`);
}

/**
 * @param wanted_scenarios names separated by commas; undefined = all
 * @param wanted_strategies of ours, likewise; "all"; undefined = what each scenario says
 * @throws UsageError that lists what there is
 */
export function choose(
  wanted_scenarios: string | undefined,
  wanted_strategies: string | undefined,
): { scenarios: Scenario[]; with_picks: boolean } {
  const known = [PICK, ...SCENARIO_NAMES];
  const names = wanted_scenarios === undefined ? known : named("scenario", wanted_scenarios, known);
  const scenarios = SCENARIOS.filter(({ name }) => names.includes(name));
  const with_picks = names.includes(PICK);
  if (wanted_strategies === undefined) return { scenarios, with_picks };
  const every = OURS.map(({ name }) => name);
  const strategies = wanted_strategies === "all" ? every : named("strategy", wanted_strategies, every);
  const chosen = OURS.filter(({ name }) => strategies.includes(name));
  const adjusted = scenarios.map((scenario) => ({
    ...scenario,
    contenders: [
      ...scenario.contenders.filter(({ by, without_last }) => by !== "ax" || without_last === true),
      ...chosen,
    ],
  }));
  return { scenarios: adjusted, with_picks };
}
