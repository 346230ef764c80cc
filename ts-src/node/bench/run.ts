/** Runs scenarios: starts nodes and gateways, measures in turn, repeats. */
import { type Kit, withKit } from "../testkit";
import { CLASS_LOAD_AFTER_S, CLASS_LOAD_MIN_S } from "./class_load";
import { type Contender, label } from "./contenders";
import { startTarget, type Target } from "./gateways";
import { measure, type Sample, WARM_UP_S } from "./measure";
import { type Nodes, startNodes } from "./nodes";
import { type Failure, type ScenarioResult, summarise } from "./results";
import type { Scenario } from "./scenarios";

export interface RunOptions {
  repeats: number;
  seconds: number;
  onProgress?: (text: string) => void;
  /** A measurement is over that was estimated at so many seconds. */
  onMeasured?: (estimated_s: number) => void;
}

/** What starting and stopping a scenario's processes takes, s. */
const SET_UP_S = 3;

/** One measurement of one contender, s. */
function estimateOne({ connections, rate, classes }: Scenario, seconds: number): number {
  if (classes !== undefined) return WARM_UP_S + Math.max(CLASS_LOAD_MIN_S, seconds) + CLASS_LOAD_AFTER_S;
  const loops = (connections > 0 ? 1 : 0) + (rate > 0 ? 1 : 0);
  // The tenth of a second is for wrk and for the nodes' counts.
  return WARM_UP_S + loops * (seconds + 0.1);
}

/** How long scenarios will take on an idle machine, s. */
export function estimateSeconds(scenarios: Scenario[], { repeats, seconds }: RunOptions): number {
  let total = 0;
  for (const scenario of scenarios) {
    total += SET_UP_S + scenario.contenders.length * repeats * estimateOne(scenario, seconds);
  }
  return total;
}

/** Where keys come from, for strategies that go by one. */
const KEY_OPTION = `hash_key = "arg:key"`;

/** One scenario under way: contenders drop out of `targets` when they fail. */
interface Run {
  scenario: Scenario;
  nodes: Nodes;
  targets: Map<Contender, Target>;
  samples: Map<Contender, Sample[]>;
  failures: Failure[];
}

/** The line of an error that says most: nginx and HAProxy name what they dislike in the line with the level. */
export function oneLine(error: unknown): string {
  const lines = (error instanceof Error ? error.message : String(error)).split("\n").map((line) => line.trim());
  const telling =
    lines.find((line) => /\[(emerg|alert|error|ALERT)\]/.test(line)) ??
    lines.find((line) => line !== "" && !line.endsWith(":"));
  return (telling ?? lines[0]).slice(0, 300);
}

/** Its figures so far go too: medians over fewer repetitions than others have would be compared with theirs. */
function drop(run: Run, contender: Contender, error: unknown): void {
  run.targets.delete(contender);
  run.samples.delete(contender);
  run.failures.push({ contender: label(contender), reason: oneLine(error) });
}

async function startTargets(kit: Kit, run: Run): Promise<void> {
  const { scenario, nodes } = run;
  const options = scenario.keyed === true ? KEY_OPTION : undefined;
  const { workers, classes } = scenario;
  for (const contender of scenario.contenders) {
    try {
      run.targets.set(
        contender,
        await startTarget(kit, contender, { addresses: nodes.addresses, workers, options, classes }),
      );
      run.samples.set(contender, []);
    } catch (error) {
      drop(run, contender, error);
    }
  }
}

async function measureOne(run: Run, contender: Contender, target: Target, seconds: number): Promise<void> {
  try {
    const sample = await measure(target, run.scenario, run.nodes, seconds);
    if (!target.isAlive()) throw new Error("the gateway ended while it was measured");
    run.samples.get(contender)!.push(sample);
  } catch (error) {
    drop(run, contender, error);
  }
}

/**
 * Runs one scenario with its contenders. Repetitions are interleaved: what else the machine does meanwhile
 * meets all of them alike, and ratios within a repetition hold. A contender that fails is left out from then on.
 * @throws Error when the nodes do not start
 */
export function runScenario(scenario: Scenario, options: RunOptions): Promise<ScenarioResult> {
  return withKit(
    `bench-${scenario.name}`,
    async (kit) => {
      options.onProgress?.("starting nodes and gateways");
      const nodes = await startNodes(kit, scenario);
      const run: Run = { scenario, nodes, targets: new Map(), samples: new Map(), failures: [] };
      await startTargets(kit, run);
      options.onMeasured?.(SET_UP_S);
      for (let repetition = 1; repetition <= options.repeats; repetition++) {
        for (const contender of scenario.contenders) {
          const target = run.targets.get(contender);
          options.onProgress?.(`repetition ${repetition} of ${options.repeats}: ${label(contender)}`);
          if (target !== undefined) await measureOne(run, contender, target, options.seconds);
          options.onMeasured?.(estimateOne(scenario, options.seconds));
        }
      }
      return summarise(scenario, run.samples, run.failures);
    },
    { keep_when_interrupted: false },
  );
}
