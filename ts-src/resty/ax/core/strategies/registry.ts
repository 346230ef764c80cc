import type { Strategy } from "../strategy";
import { adaptive } from "./adaptive";
import { leastConn } from "./least_conn";
import { random } from "./random";
import { roundRobin } from "./round_robin";

/** A strategy whose state type is its own business. */
export type AnyStrategy = Strategy<never>;

const all: AnyStrategy[] = [
  adaptive as AnyStrategy,
  leastConn as AnyStrategy,
  random as AnyStrategy,
  roundRobin as AnyStrategy,
];

/** Built-in strategies by the name used in the configuration. */
export const strategies: Record<string, AnyStrategy> = {};
for (const strategy of all) strategies[strategy.name] = strategy;
