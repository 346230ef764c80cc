/** Runs what was chosen, one after the other, with progress on stderr: stdout is for the result. */
import { Listr, ListrLogger, ProcessOutput } from "listr2";
import { measurePicks, type Picks, PICKS_S } from "./picks";
import { newProgress, type Progress } from "./progress";
import type { ScenarioResult } from "./results";
import { estimateSeconds, oneLine, runScenario } from "./run";
import type { Scenario } from "./scenarios";

export interface Chosen {
  scenarios: Scenario[];
  with_picks: boolean;
  repeats: number;
  seconds: number;
}

export interface Figures {
  picks?: Picks;
  results: ScenarioResult[];
  /** Scenarios without a result, results that could not be written, and why, a line each. */
  problems: string[];
}

export interface Outcome extends Figures {
  /** Whether the results were written, the last part's too. */
  written: boolean;
}

/** How long it will take on an idle machine, s. */
export function estimateAll(chosen: Chosen): number {
  return estimateSeconds(chosen.scenarios, chosen) + (chosen.with_picks ? PICKS_S : 0);
}

interface Part {
  name: string;
  about: string;
  run: (show: (text: string) => void) => Promise<void>;
}

function partsOf(chosen: Chosen, progress: Progress, outcome: Figures): Part[] {
  const pick: Part = {
    name: "pick",
    about: "What one choice costs.",
    run: async (show) => {
      show("every strategy, 10 to 10,000 nodes");
      outcome.picks = await measurePicks();
      progress.done(PICKS_S);
    },
  };
  const scenarios = chosen.scenarios.map((scenario): Part => ({
    name: scenario.name,
    about: scenario.about,
    run: async (show) => {
      const onMeasured = (estimated_s: number): void => progress.done(estimated_s);
      outcome.results.push(await runScenario(scenario, { ...chosen, onProgress: show, onMeasured }));
    },
  }));
  return chosen.with_picks ? [pick, ...scenarios] : scenarios;
}

/**
 * A scenario that fails is reported among the problems, and the next one runs.
 * @param onPart called with all that there is so far, after each part
 */
export async function runAll(chosen: Chosen, onPart: (so_far: Figures) => Promise<void>): Promise<Outcome> {
  const outcome: Outcome = { results: [], problems: [], written: false };
  let write_problem: string | undefined;
  const write = async (): Promise<void> => {
    write_problem = await onPart(outcome).then(() => undefined, oneLine);
  };
  const progress = newProgress(estimateAll(chosen), () => performance.now() / 1000);
  const logger = new ListrLogger({ processOutput: new ProcessOutput(process.stderr, process.stderr) });
  const tasks = partsOf(chosen, progress, outcome).map((part) => ({
    title: `${part.name}: ${part.about}`,
    task: async (_: unknown, task: { output: string }): Promise<void> => {
      try {
        await part.run((text) => (task.output = `${text}; ${progress.left()}`));
      } catch (error) {
        outcome.problems.push(`${part.name}: ${oneLine(error)}`);
        throw new Error(oneLine(error), { cause: error });
      } finally {
        await write();
      }
    },
  }));
  const list = new Listr(tasks, {
    exitOnError: false,
    fallbackRendererCondition: process.stderr.isTTY !== true,
    fallbackRenderer: "simple",
    rendererOptions: { logger },
    fallbackRendererOptions: { logger },
    registerSignalListeners: false,
  });
  await list.run();
  outcome.written = write_problem === undefined;
  if (write_problem !== undefined) outcome.problems.push(write_problem);
  return outcome;
}
