import type { Strategy } from "../strategy";
import { adaptive } from "./adaptive";
import { affinity } from "./affinity";
import { consistentHash } from "./consistent_hash";
import { ipHash } from "./ip_hash";
import { fastest } from "./fastest";
import { goal } from "./goal";
import { leastConn } from "./least_conn";
import { p2c } from "./p2c";
import { random } from "./random";
import { roundRobin } from "./round_robin";

/** A strategy whose state type is its own business. */
export type AnyStrategy = Strategy<never>;

const all: AnyStrategy[] = [
  adaptive as AnyStrategy,
  affinity as AnyStrategy,
  consistentHash as AnyStrategy,
  ipHash as AnyStrategy,
  fastest as AnyStrategy,
  goal as AnyStrategy,
  leastConn as AnyStrategy,
  p2c as AnyStrategy,
  random as AnyStrategy,
  roundRobin as AnyStrategy,
];

/** Built-in strategies by the name used in the configuration. */
export const strategies: Record<string, AnyStrategy> = {};
for (const strategy of all) strategies[strategy.name] = strategy;
