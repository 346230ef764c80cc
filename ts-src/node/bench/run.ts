/** Runs scenarios: starts nodes and gateways, measures in turn, repeats. */
import { type Kit, withKit } from "../testkit";
import { type Contender, label } from "./contenders";
import { startTarget, type Target } from "./gateways";
import { measure, type Sample, WARM_UP_S } from "./measure";
import { startNodes } from "./nodes";
import { type ScenarioResult, summarise } from "./results";
import type { Scenario } from "./scenarios";

export interface RunOptions {
  repeats: number;
  seconds: number;
  onProgress?: (text: string) => void;
}

/** What starting and stopping a scenario's processes takes, s. */
const SET_UP_S = 3;

/** How long scenarios will take, s. */
export function estimateSeconds(scenarios: Scenario[], { repeats, seconds }: RunOptions): number {
  let total = 0;
  for (const { contenders, connections, rate } of scenarios) {
    const loops = (connections > 0 ? 1 : 0) + (rate > 0 ? 1 : 0);
    // The half second is for wrk and for the nodes' counts.
    total += SET_UP_S + contenders.length * repeats * (WARM_UP_S + loops * (seconds + 0.5));
  }
  return total;
}

/** Where keys come from, for strategies that go by one. */
const KEY_OPTION = `hash_key = "arg:key"`;

async function startTargets(kit: Kit, scenario: Scenario, addresses: string[]): Promise<Map<Contender, Target>> {
  const options = scenario.keyed === true ? KEY_OPTION : undefined;
  const targets = new Map<Contender, Target>();
  for (const contender of scenario.contenders) {
    targets.set(contender, await startTarget(kit, contender, { addresses, workers: scenario.workers, options }));
  }
  return targets;
}

/**
 * Runs one scenario with its contenders. Repetitions are interleaved: what else the machine does meanwhile
 * meets all of them alike, and ratios within a repetition hold.
 */
export function runScenario(scenario: Scenario, options: RunOptions): Promise<ScenarioResult> {
  return withKit(
    `bench-${scenario.name}`,
    async (kit) => {
      options.onProgress?.("starting nodes and gateways");
      const nodes = await startNodes(kit, scenario);
      const targets = await startTargets(kit, scenario, nodes.addresses);
      const samples = new Map<Contender, Sample[]>(scenario.contenders.map((contender) => [contender, []]));
      for (let repetition = 1; repetition <= options.repeats; repetition++) {
        for (const [contender, target] of targets) {
          options.onProgress?.(`repetition ${repetition} of ${options.repeats}: ${label(contender)}`);
          samples.get(contender)!.push(await measure(target, scenario, nodes, options.seconds));
        }
      }
      return summarise(scenario, samples);
    },
    { keep_when_interrupted: false },
  );
}
