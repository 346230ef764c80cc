import { loadConfig } from "../resty/ax/control/config";
import type { AxConfig } from "../resty/ax/core/model";
import { strategies } from "../resty/ax/core/strategies/registry";
import type { StrategyOptions } from "../resty/ax/core/config/upstream_options";
import type { Job, NodeSpec } from "./job";

export const UPSTREAM = "sim";

const options: StrategyOptions = {};
for (const [name, strategy] of pairs(strategies)) options[name] = strategy.options;

function nodeOptions(node: NodeSpec): Record<string, unknown> {
  return {
    name: node.id,
    address: `10.${Math.floor(node.slots / 256)}.0.1:${1000 + Number(node.id.substring(1))}`,
    weight: node.weight,
    max_conns: node.max_conns,
  };
}

/**
 * The configuration of the gateways, by the library's own loader: defaults and checks are those of init().
 * @param now_ms nodes that join later are not in it
 */
export function configAt(job: Job, now_ms: number): AxConfig {
  const upstream: Record<string, unknown> = {
    strategy: job.strategy,
    strategy_options: job.strategy_options,
    nodes: job.nodes.filter((node) => node.joins_at_s * 1000 <= now_ms).map((node) => nodeOptions(node)),
  };
  for (const [key, value] of pairs(job.upstream)) upstream[key] = value;
  const [config, problem] = loadConfig(
    { ...job.init, upstreams: { [UPSTREAM]: upstream } },
    {
      strategies: options,
      readFile: () => $multi(undefined, "no files here"),
      decodeJson: () => $multi(undefined, "no files here"),
      adopt: () => $multi(undefined, "no nginx here"),
    },
  );
  if (config === undefined) return error(problem ?? "bad configuration", 0);
  return config;
}
