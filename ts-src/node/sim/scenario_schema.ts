/** The format of scenario files; docs/simulator.md describes it for users. */
import { z } from "zod";
import { STRATEGY_NAMES } from "../cli/arguments";

const positive = z.number().positive();
const share = z.number().min(0).max(1);

const eventSchema = z.strictObject({
  from_s: z.number().min(0).default(0),
  for_s: z.number().min(0).default(0),
  every_s: z.number().min(0).default(0),
  speed: z.number().min(0).max(100).default(1),
  mode: z.enum(["up", "down", "hang", "black_hole"]).default("up"),
  error_share: share.default(0),
  errors_work: z.boolean().default(false),
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
    clients: z.number().int().min(1).max(100000).optional(),
    think_ms: z.number().min(0).default(0),
    steps: z.array(z.strictObject({ at_s: z.number().min(0), factor: z.number().min(0) })).default([]),
  })
  .refine(
    ({ rho, rate_per_s, clients }) => [rho, rate_per_s, clients].filter((given) => given !== undefined).length === 1,
    "give one of rho, rate_per_s, clients",
  )
  .refine(({ clients, steps }) => clients === undefined || steps.length === 0, "steps are for rho and rate_per_s")
  .refine(({ clients, think_ms }) => clients !== undefined || think_ms === 0, "think_ms is for clients");

const serviceSchema = z.strictObject({
  distribution: z.enum(["fixed", "exponential", "lognormal", "bimodal", "pareto"]).default("exponential"),
  mean_ms: positive.default(20),
  cv: positive.default(1),
  heavy_share: share.default(0.05),
  heavy_factor: positive.default(20),
  alpha: positive.default(1.5),
  spread: z.number().gt(1).default(1000),
  timer_ms: z.number().min(0).default(0),
});

const retrySchema = z.strictObject({
  error: z.boolean().default(true),
  timeout: z.boolean().default(true),
  http_500: z.boolean().default(false),
});

const keysSchema = z.strictObject({
  kind: z.enum(["zipf", "uniform"]).default("uniform"),
  count: z.number().int().min(1).max(1000000).default(1000),
  exponent: positive.max(10).default(1),
  hot_share: share.default(0),
  nat_share: share.default(0),
  roam_every_s: z.number().min(0).default(0),
});

const cacheSchema = z.strictObject({
  entries: z.number().int().min(1).max(1000000),
  miss_factor: z.number().min(1).default(5),
});

const classSchema = z.strictObject({ name: z.string().min(1), share, work: positive.default(1) });

const streamsSchema = z.strictObject({ share: share.default(0), mean_s: positive.default(10) });

/** One line of the table: a strategy, and what it has otherwise than the scenario. */
const contenderSchema = z.strictObject({
  name: z.string().min(1).optional(),
  strategy: z.enum(STRATEGY_NAMES),
  options: z.record(z.string(), z.unknown()).default({}),
  upstream: z.record(z.string(), z.unknown()).default({}),
  gateways: z.number().int().min(1).max(100).optional(),
  access: z.boolean().optional(),
  /** Of the scenario's load. */
  load_factor: positive.max(100).default(1),
});

/** Figures that a target can be set for. */
const FIGURES = [
  "p50_ms",
  "p99_distance",
  "p99_ms",
  "p99_vs_first",
  "p999_ms",
  "error_share",
  "refused_share",
  "goodput_share",
  "peak_to_mean",
  "hit_share",
  "hot_key_nodes",
] as const;

/** Those of them that are known for each class. */
export const CLASS_FIGURES = ["p50_ms", "p99_ms", "p99_vs_first", "error_share", "refused_share"] as const;

const targetSchema = z
  .strictObject({
    figure: z.enum(FIGURES),
    /** Of the requests of this class; of all when absent. */
    class: z.string().optional(),
    at_most: z.number().optional(),
    at_least: z.number().optional(),
    /** The lines it is meant for, by name; all when absent. */
    for: z.array(z.string()).optional(),
  })
  .refine(({ at_most, at_least }) => at_most !== undefined || at_least !== undefined, "give at_most or at_least")
  .refine(
    (target) => target.class === undefined || CLASS_FIGURES.some((figure) => figure === target.figure),
    `of a class there are only ${CLASS_FIGURES.join(", ")}`,
  );

const scenarioFields = z.strictObject({
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
  keys: keysSchema.optional(),
  cache: cacheSchema.optional(),
  classes: z
    .array(classSchema)
    .refine((classes) => {
      const total = classes.reduce((sum, { share }) => sum + share, 0);
      return classes.length === 0 || Math.abs(total - 1) < 1e-9;
    }, "the shares must add up to 1")
    .default([]),
  streams: streamsSchema.prefault({}),
  /** Whether requests go through access(). */
  access: z.boolean().default(false),
  upstream: z.record(z.string(), z.unknown()).default({}),
  init: z.record(z.string(), z.unknown()).default({}),
  compare: z.array(contenderSchema).default([]),
  targets: z.array(targetSchema).default([]),
});

/** Targets name classes that there are. */
export const scenarioSchema = scenarioFields.superRefine(({ classes, targets }, context) => {
  targets.forEach((target, at) => {
    if (target.class === undefined || classes.some(({ name }) => name === target.class)) return;
    const names = classes.map(({ name }) => name).join(", ");
    const message = classes.length === 0 ? "the scenario has no classes" : `the classes are ${names}`;
    context.addIssue({ code: "custom", path: ["targets", at, "class"], message });
  });
});

export type Target = z.infer<typeof targetSchema>;
export type Contender = z.infer<typeof contenderSchema>;
export type Scenario = z.infer<typeof scenarioSchema> & { name: string };
