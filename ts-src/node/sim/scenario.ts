import { readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { parse } from "yaml";
import { hintFor, UsageError } from "../cli/arguments";
import { systemReason } from "../cli/files";
import type { Job, NodeSpec } from "../../sim/job";
import { ROOT } from "../testkit/workdir";
import { problemLines } from "./scenario_problems";
import { type Scenario, scenarioSchema } from "./scenario_schema";

/** Scenario files that come with the library; docs/simulator.md describes the format. */
export const SCENARIO_DIR = join(ROOT, "scenarios");

/** What is wrong with a scenario file, ready to print. */
export class ScenarioError extends UsageError {}

/** @param name stands for the file in messages */
export function parseScenario(name: string, text: string): Scenario {
  let raw: unknown;
  try {
    raw = parse(text);
  } catch (error) {
    // Below its first line the message shows the place in the text, which an editor does better.
    const [reason] = (error as Error).message.split("\n");
    throw new ScenarioError(`${name}: neither YAML nor JSON: ${reason.replace(/:$/, "")}`);
  }
  const parsed = scenarioSchema.safeParse(raw);
  if (!parsed.success) {
    const lines = problemLines(scenarioSchema, raw, parsed.error);
    throw new ScenarioError(`${name}:\n${lines.map((line) => `  ${line}`).join("\n")}`);
  }
  const joins = parsed.data.nodes.map((group) => group.joins_at_s);
  if (joins.some((at_s, k) => k > 0 && at_s < joins[k - 1])) {
    throw new ScenarioError(`${name}: nodes: groups must stand in the order of joins_at_s`);
  }
  return { ...parsed.data, name };
}

export function scenarioNames(): string[] {
  return readdirSync(SCENARIO_DIR)
    .filter((file) => file.endsWith(".yaml"))
    .map((file) => basename(file, ".yaml"))
    .sort();
}

/** @param which the name of one that comes with the library, or the path of a YAML or JSON file */
export function loadScenario(which: string): Scenario {
  const isPath = /[/.]/.test(which);
  const known = scenarioNames();
  if (!isPath && !known.includes(which)) {
    const allowed = `there are ${known.join(", ")}, or give the path of a file`;
    throw new ScenarioError(`no scenario "${which}"; ${allowed}${hintFor(which, known)}`);
  }
  const path = isPath ? which : join(SCENARIO_DIR, `${which}.yaml`);
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    throw new ScenarioError(`cannot read the scenario file ${path}: ${systemReason(error)}`);
  }
  return parseScenario(basename(path).replace(/\.(ya?ml|json)$/, ""), text);
}

function nodesOf(scenario: Scenario): NodeSpec[] {
  const nodes: NodeSpec[] = [];
  for (const { count, stagger_s, events, ...group } of scenario.nodes) {
    for (let k = 0; k < count; k++) {
      const shifted = events.map((event) => ({ ...event, from_s: event.from_s + k * stagger_s }));
      nodes.push({ ...group, id: `n${nodes.length + 1}`, events: shifted });
    }
  }
  return nodes;
}

/** Length of a step of the series: fine enough to see a minute's run, coarse enough for percentiles. */
const STEP_MS = 1000;

/** Who plays: a strategy with its options, or a bound. */
export type Player = Pick<Job, "strategy" | "strategy_options" | "bound">;

/** What one run is told. */
export function jobOf(scenario: Scenario, player: Player, seed: number, step_ms = STEP_MS): Job {
  const { name, duration_s, warmup_s, gateways, workers, service, network_ms, timeout_ms, error_ms, retry } = scenario;
  const { keys, cache, classes, streams, load, access, upstream, init } = scenario;
  return {
    name,
    ...{ duration_s, warmup_s, gateways, workers, service, network_ms, timeout_ms, error_ms, retry },
    ...{ keys, cache, classes, streams, step_ms, access, upstream, init },
    rho: load.rho ?? 0,
    rate_per_s: load.rate_per_s ?? 0,
    steps: load.steps,
    clients: load.clients ?? 0,
    think_ms: load.think_ms,
    nodes: nodesOf(scenario),
    ...player,
    seed,
  };
}
