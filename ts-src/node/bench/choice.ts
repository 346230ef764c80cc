/** Which scenarios and contenders a run is for. */
import { checkName } from "../cli/arguments";
import { type Contender, OURS, PEERS } from "./contenders";
import { type Scenario, SCENARIOS } from "./scenarios";

export const SCENARIO_NAMES = SCENARIOS.map(({ name }) => name);

/** Stands for the cost of a pick, which needs no nginx. */
const PICK = "pick";

function named(kind: string, wanted: string, known: string[]): string[] {
  const names = wanted.split(",").map((text) => text.trim());
  for (const name of names) checkName(kind, name, known);
  return names;
}

/** Contenders by name; "all"; undefined = those that the scenario has itself. */
function chosen(kind: string, wanted: string | undefined, all: Contender[]): Contender[] | undefined {
  if (wanted === undefined) return undefined;
  const names = all.map(({ name }) => name);
  const some = wanted === "all" ? names : named(kind, wanted, names);
  return all.filter(({ name }) => some.includes(name));
}

/** Peers first, as ratios are to the first row; then what shows a floor or a bound; then ours. */
function adjusted(scenario: Scenario, peers: Contender[] | undefined, strategies: Contender[] | undefined): Scenario {
  const { contenders } = scenario;
  const isPeer = (contender: Contender): boolean => PEERS.includes(contender);
  const isOurs = (contender: Contender): boolean => OURS.includes(contender);
  const own_peers = contenders.filter(isPeer);
  const own = contenders.filter(isOurs);
  const rest = contenders.filter((contender) => !isPeer(contender) && !isOurs(contender));
  return { ...scenario, contenders: [...(peers ?? own_peers), ...rest, ...(strategies ?? own)] };
}

/** What was asked for: names separated by commas; undefined = all scenarios, and what each has itself. */
export interface Wanted {
  scenario?: string;
  /** Of ours; "all" = every one. */
  strategy?: string;
  /** Of others' gateways; "all" = every one. */
  peer?: string;
}

/** @throws UsageError that lists what there is */
export function choose({ scenario, strategy, peer }: Wanted): { scenarios: Scenario[]; with_picks: boolean } {
  const known = [PICK, ...SCENARIO_NAMES];
  const names = scenario === undefined ? known : named("scenario", scenario, known);
  const peers = chosen("peer", peer, PEERS);
  const strategies = chosen("strategy", strategy, OURS);
  const scenarios = SCENARIOS.filter(({ name }) => names.includes(name)).map((it) => adjusted(it, peers, strategies));
  return { scenarios, with_picks: names.includes(PICK) };
}
