import { readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { parse } from "yaml";
import { z } from "zod";
import type { Job, NodeSpec } from "../../sim/job";
import { ROOT } from "../testkit/workdir";

/** Scenario files that come with the library; docs/simulator.md describes the format. */
export const SCENARIO_DIR = join(ROOT, "scenarios");

const positive = z.number().positive();
const share = z.number().min(0).max(1);

const eventSchema = z.strictObject({
  from_s: z.number().min(0).default(0),
  for_s: z.number().min(0).default(0),
  every_s: z.number().min(0).default(0),
  speed: z.number().min(0).max(100).default(1),
  mode: z.enum(["up", "down", "hang", "black_hole"]).default("up"),
  error_share: share.default(0),
});

const groupSchema = z.strictObject({
  count: z.number().int().min(1).max(10000).default(1),
  slots: z.number().int().min(1).max(10000).default(8),
  speed: positive.max(100).default(1),
  weight: z.number().min(0).max(65535).default(1),
  max_conns: z.number().int().min(0).default(0),
  joins_at_s: z.number().min(0).default(0),
  /** Events of the group's k-th node come k times as much later. */
  stagger_s: z.number().min(0).default(0),
  events: z.array(eventSchema).default([]),
});

const loadSchema = z
  .strictObject({
    rho: positive.max(10).optional(),
    rate_per_s: positive.optional(),
    steps: z.array(z.strictObject({ at_s: z.number().min(0), factor: z.number().min(0) })).default([]),
  })
  .refine((load) => (load.rho === undefined) !== (load.rate_per_s === undefined), "give rho or rate_per_s");

const serviceSchema = z.strictObject({
  distribution: z.enum(["fixed", "exponential", "lognormal", "bimodal"]).default("exponential"),
  mean_ms: positive.default(20),
  cv: positive.default(1),
  heavy_share: share.default(0.05),
  heavy_factor: positive.default(20),
});

const retrySchema = z.strictObject({
  error: z.boolean().default(true),
  timeout: z.boolean().default(true),
  http_500: z.boolean().default(false),
});

/** Figures that a target can be set for. */
const FIGURES = ["p99_distance", "p99_ms", "p999_ms", "error_share", "goodput_share", "peak_to_mean"] as const;

const targetSchema = z.strictObject({
  figure: z.enum(FIGURES),
  at_most: z.number().optional(),
  at_least: z.number().optional(),
});

const scenarioSchema = z.strictObject({
  description: z.string(),
  duration_s: z.number().int().min(1).max(36000).default(20),
  warmup_s: z.number().int().min(0).max(3600).default(8),
  gateways: z.number().int().min(1).max(100).default(4),
  workers: z.number().int().min(1).max(64).default(1),
  load: loadSchema,
  service: serviceSchema.prefault({}),
  network_ms: z.number().min(0).default(0.5),
  timeout_ms: positive.default(2000),
  error_ms: positive.default(0.1),
  retry: retrySchema.prefault({}),
  nodes: z.array(groupSchema).min(1),
  upstream: z.record(z.string(), z.unknown()).default({}),
  targets: z.array(targetSchema).default([]),
});

export type Target = z.infer<typeof targetSchema>;
export type Scenario = z.infer<typeof scenarioSchema> & { name: string };

/** What is wrong with a scenario file, ready to print. */
export class ScenarioError extends Error {}

/** @param name stands for the file in messages */
export function parseScenario(name: string, text: string): Scenario {
  let raw: unknown;
  try {
    raw = parse(text);
  } catch (error) {
    throw new ScenarioError(`${name}: ${(error as Error).message}`);
  }
  const parsed = scenarioSchema.safeParse(raw);
  if (!parsed.success) throw new ScenarioError(`${name}:\n${z.prettifyError(parsed.error)}`);
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
    throw new ScenarioError(`no scenario "${which}"; there are ${known.join(", ")}, or give the path of a file`);
  }
  const path = isPath ? which : join(SCENARIO_DIR, `${which}.yaml`);
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    throw new ScenarioError((error as Error).message);
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

/** What one run is told. */
export function jobOf(
  scenario: Scenario,
  player: Pick<Job, "strategy" | "strategy_options" | "bound">,
  seed: number,
): Job {
  const { name, duration_s, warmup_s, gateways, workers, service, network_ms, timeout_ms, error_ms, retry } = scenario;
  return {
    name,
    ...{ duration_s, warmup_s, gateways, workers, service, network_ms, timeout_ms, error_ms, retry },
    rho: scenario.load.rho ?? 0,
    rate_per_s: scenario.load.rate_per_s ?? 0,
    steps: scenario.load.steps,
    nodes: nodesOf(scenario),
    upstream: scenario.upstream,
    ...player,
    seed,
  };
}
