/** Who is compared, and what each one needs. Their configurations are in nginx/bench. */
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { spawnSync } from "node:child_process";
import { strategies } from "../../resty/ax/core/strategies/registry";
import { findNginx } from "../testkit";
import { which } from "../testkit/nginx";

export interface Contender {
  name: string;
  by: "nginx" | "haproxy" | "ax";
  /** File in nginx/bench/contenders, without ".conf"; of HAProxy, the value of `balance`. */
  config: string;
  /** Of ours: its name in the configuration. */
  strategy?: string;
  /** Gets all nodes but the last: what would be possible if the odd node were not there. */
  without_last?: boolean;
}

const nginx = (name: string, config: string): Contender => ({ name, by: "nginx", config });
const haproxy = (name: string, config: string): Contender => ({ name, by: "haproxy", config });

/** What others ship. The first is what ratios are taken to. */
export const PEERS: Contender[] = [
  nginx("round robin", "round_robin"),
  nginx("least_conn", "least_conn"),
  nginx("random two least_conn", "random_two"),
  nginx("hash consistent", "hash"),
  nginx("upstream-fair", "fair"),
  haproxy("leastconn", "leastconn"),
  haproxy("random(2)", "random(2)"),
];

/** Every strategy of ours, the default one first. */
export const OURS: Contender[] = Object.keys(strategies)
  .sort((a, b) => Number(b === "adaptive") - Number(a === "adaptive") || a.localeCompare(b))
  .map((strategy) => ({ name: strategy, by: "ax", config: "ax", strategy }));

/** The floor: what any balancer in Lua costs. */
export const FLOOR: Contender[] = [
  nginx("trivial balancer_by_lua", "trivial"),
  nginx("trivial with a log phase", "trivial_log"),
];

export const label = (contender: Contender): string => `${contender.by} ${contender.name}`;

/** Of the module that gives nginx the `fair` directive; undefined when there is none for this nginx. */
export function fairModule(): string | undefined {
  const said = spawnSync(findNginx().bin, ["-V"], { encoding: "utf8" }).stderr;
  const dir = /--modules-path=(\S+)/.exec(said)?.[1] ?? dirname(findNginx().bin);
  const path = join(dir, "ngx_http_upstream_fair_module.so");
  return existsSync(path) ? path : undefined;
}

/** Says, in a line, what to do for a contender whose program is missing; undefined when all is there. */
export function missing(contender: Contender): string | undefined {
  if (contender.by === "haproxy" && which("haproxy") === undefined) {
    return "haproxy is not installed: apt-get install haproxy";
  }
  if (contender.config === "fair" && fairModule() === undefined) {
    return "nginx has no upstream-fair module: apt-get install libnginx-mod-http-upstream-fair (Debian's nginx only)";
  }
  return undefined;
}
