import { loadConfig } from "../control/config";
import type { AxConfig } from "../core/model";
import { type AnyStrategy, strategies } from "../core/strategies/registry";
import { process } from "../dataplane/worker";
import { keepaliveProblem } from "../nginx/balancer";
import { type ConfReader, newConfReader } from "../nginx/conf/adopt";
import { confDirectory, thisProcess } from "../nginx/conf/locate";
import { readFile } from "../nginx/files";
import { raiseJitLimits } from "../nginx/jit";
import { decode } from "../nginx/json";
import { logError, logNotice, logWarning } from "../nginx/log";
import { loadModule } from "../nginx/modules";
import { regexProblem } from "../nginx/regex";
import { openStore } from "../nginx/shared";
import { newProblems, type Problems, renderProblems, report } from "../core/config/problems";

function optionsByStrategy(): Record<string, AnyStrategy["options"]> {
  const options: Record<string, AnyStrategy["options"]> = {};
  for (const [name, strategy] of pairs(strategies)) options[name] = strategy.options;
  return options;
}

/** A module must be a table with a function `pick`; `create` and `prepare` may be left out. */
function loadStrategy(module: string): LuaMultiReturn<[AnyStrategy | undefined, string | undefined]> {
  const [loaded, err] = loadModule(module);
  if (err !== undefined) return $multi(undefined, err);
  const given = loaded as Partial<AnyStrategy> | undefined;
  if (type(given) !== "table" || type(given?.pick) !== "function") {
    return $multi(undefined, "it must return a table with a function pick(state, pool, candidates, count, request)");
  }
  const strategy = given as Partial<AnyStrategy> & Pick<AnyStrategy, "pick">;
  const create = strategy.create ?? ((): never => undefined as never);
  const uses_key = strategy.uses_key === true;
  const { prepare, pick } = strategy;
  return $multi({ name: module, options: {}, uses_key, create, prepare, pick }, undefined);
}

function loadCustom(config: AxConfig, problems: Problems): Record<string, AnyStrategy | undefined> {
  const custom: Record<string, AnyStrategy | undefined> = {};
  for (const [name, upstream] of pairs(config.upstreams)) {
    if (upstream.strategy_module !== undefined) {
      const [strategy, err] = loadStrategy(upstream.strategy_module);
      custom[name] = strategy;
      if (err !== undefined) {
        report(problems, `upstreams.${name}.strategy_module`, `cannot load "${upstream.strategy_module}": ${err}`);
      }
    }
  }
  return custom;
}

/** A relative path is taken from where nginx takes those in its own configuration from. */
function readConfigFile(this: void, path: string): LuaMultiReturn<[string | undefined, string | undefined]> {
  if (path.startsWith("/")) return readFile(path);
  const [directory, conf] = confDirectory(thisProcess);
  const [text, err] = readFile(directory + path);
  if (text !== undefined) return $multi(text, undefined);
  return $multi(undefined, `${err} (a relative path starts from the directory of nginx's configuration file, ${conf})`);
}

/** Directives of nginx's that come after balancer_by_lua, or keepalive before it. */
function checkBlocks(config: AxConfig, reader: ConfReader, problems: Problems): void {
  for (const [name] of pairs(config.upstreams)) {
    const findings = reader.checkOrder(name, config.nginx_conf);
    if (findings !== undefined) {
      if (findings.problem !== undefined) report(problems, `upstreams.${name}`, findings.problem);
      for (const warning of findings.warnings) logWarning(`upstreams.${name}: ${warning}`);
    }
  }
}

/**
 * Takes the configuration. All its problems are reported at once, and nginx does not start (a reload
 * keeps the old configuration). `nginx -t` does not run this phase.
 *
 * init_by_lua phase.
 * @param source a table of options (docs/configuration.md), or the path of a JSON file with them; a relative one starts
 *   from the directory of nginx's configuration file
 */
export function init(source: unknown): void {
  const reader = newConfReader();
  const [config, err] = loadConfig(source, {
    readFile: readConfigFile,
    decodeJson: decode,
    adopt: reader.adopt,
    strategies: optionsByStrategy(),
    checkRegex: regexProblem,
    warn: logWarning,
    logError,
  });
  if (config === undefined) error(err ?? "lua-resty-ax: bad configuration", 0);
  const problems = newProblems();
  const custom = loadCustom(config, problems);
  checkBlocks(config, reader, problems);
  const store = openStore(config.shared_dict);
  if (store === undefined) {
    const name = config.shared_dict;
    report(
      problems,
      "shared_dict",
      `nginx has no zone "${name}"; add "lua_shared_dict ${name} 16m;" to the http block`,
    );
  }
  if (problems.total > 0 || store === undefined) error(renderProblems(problems, "init"), 0);
  if (config.tune_jit) raiseJitLimits();
  process.prepared = { config, store, custom };
  for (const [, upstream] of pairs(config.upstreams)) {
    const strategy = upstream.strategy_module ?? upstream.strategy;
    const count = upstream.nodes.length;
    if (upstream.hash_key !== undefined && (custom[upstream.name] ?? strategies[upstream.strategy]).uses_key !== true) {
      logWarning(`upstreams.${upstream.name}.hash_key: strategy ${strategy} does not go by a key; it has no effect`);
    }
    if (upstream.adaptive_limit !== undefined && upstream.queue === undefined) {
      logWarning(
        `upstreams.${upstream.name}.adaptive_limit: without a queue, requests that find a limit low are refused`,
      );
    }
    const useless = upstream.lua_keepalive === undefined ? undefined : keepaliveProblem(upstream.name);
    if (useless !== undefined) logWarning(useless);
    logNotice(`upstream "${upstream.name}": ${count} nodes from ${upstream.nodes_from}, strategy ${strategy}`);
  }
}
