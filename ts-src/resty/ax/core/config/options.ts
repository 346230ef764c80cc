import { gatewayFlowFields } from "./flow_options";
import { checkUpstream } from "./rules";
import type { FieldSchema } from "./schema";
import { checkName, checkNotEmpty } from "./texts";
import { type StrategyOptions, upstreamFields } from "./upstream_options";

/**
 * Every option there is. Names and meaning are those of core/model.ts; validation, defaults and
 * docs/configuration.md are made from here, upstream_options.ts and nodes.ts.
 */

/** Options of the whole gateway. */
const gatewayFields: Record<string, FieldSchema> = {
  shared_dict: {
    kind: "string",
    check: checkName,
    default: "ax",
    doc: "Name of the `lua_shared_dict` that the workers share.",
    reason: "the name in the shipped configuration",
  },
  nginx_conf: {
    kind: "string",
    check: checkNotEmpty,
    doc: "Path of nginx.conf, to read `server` lines from. Needed only where it cannot be found from the running process.",
  },
  tune_jit: {
    kind: "boolean",
    default: true,
    doc:
      "Whether `init()` lets LuaJIT compile longer traces, for all Lua of this nginx: with what OpenResty's LuaJIT has by " +
      "default (`maxtrace=8000`, `maxrecord=16000`, `maxmcode=40960`) where it is another, and `maxirconst=1000`. Limits " +
      "of your own (`jit.opt.start`) hold when they are set after `init()`.",
    reason: "with LuaJIT's own limits, half of a pick is interpreted",
  },
  flush_interval_ms: {
    kind: "number",
    integer: true,
    min: 20,
    max: 500,
    default: 100,
    doc: "How often a worker publishes its counters and takes in the other workers' requests in flight.",
    reason: "counts 0.1 s old still show a pile-up early; the write costs microseconds",
  },
  collector_interval_ms: {
    kind: "number",
    integer: true,
    min: 100,
    max: 5000,
    default: 500,
    doc: "How often the collecting worker computes scores, weights and states.",
    reason: "ten looks in a short window; steps of the weight are rate limited besides",
  },
};

/**
 * @param strategies options of every built-in strategy, by its name
 * @returns the schema of the whole configuration
 */
export function configFields(strategies: StrategyOptions): Record<string, FieldSchema> {
  return {
    upstreams: {
      kind: "map",
      required: true,
      non_empty: true,
      key_doc: "name",
      key_check: checkName,
      expected: "a map of upstream names to their options, { backend = {} },",
      of: {
        kind: "object",
        fields: upstreamFields(strategies),
        check: (record, raw, path, problems) => checkUpstream(strategies, record, raw, path, problems),
        expected: "a map of options, {} for the defaults,",
        doc: "One upstream.",
      },
      doc: "The upstreams to schedule, by the name of their nginx `upstream` block. At least one.",
    },
    ...gatewayFields,
    ...gatewayFlowFields,
  };
}
