import { loadOf } from "./load";
import type { Pool } from "./pool";

/**
 * Priority classes: a class has a name, which the request carries, and a role, which says what is done
 * for it. A request without a class, or of an unknown one, is normal: names come from outside.
 */

/** What a class stands for. */
export const enum Role {
  /** Whatever the strategy picks. */
  Normal = 0,
  /** The least loaded quarter of the nodes. */
  Vip = 1,
  /** Not the nodes that are busy. */
  Batch = 2,
}

/** Class names and what they stand for where none are configured. */
export const DEFAULT_CLASSES: Record<string, string | number> = { vip: "vip", normal: "normal", batch: "batch" };

/** Loads looked at per flush to know what is usual: 64 give the quartile within a few ranks, at any size of pool. */
const LOADS_SAMPLED = 64;

/**
 * Up to so many candidates, "the least loaded quarter" is of this instant: in a small pool what was usual at the last
 * flush may be what the only busy node has now. Ranks cost a look at every candidate.
 */
const RANKED_MAX = 16;

/** A node with fewer requests in flight than this is not busy, whatever the others have. */
const BUSY_MIN = 2;

/** A node with more than this share of its capacity in flight is busy, whatever the others have. */
const BUSY_SHARE = 0.5;

/** What is usual in a pool. Written per flush and when candidates change, read by picks. */
export interface Loads {
  /** Lower quartile and median of requests in flight per weight. */
  quartile: number;
  median: number;
  sampled: number[];
}

/** Where the class of a request comes from: a variable of nginx, or one class for all. */
export interface ClassSource {
  variable?: string;
  constant?: string;
  /** The client writes it itself (header, argument, cookie): it must not promote itself. */
  from_client: boolean;
}

/** How nginx's variables begin that hold what the client wrote. */
const CLIENT_VARIABLES = ["http_", "arg_", "cookie_"];

function isFromClient(variable: string): boolean {
  for (let i = 0; i < CLIENT_VARIABLES.length; i++) if (variable.startsWith(CLIENT_VARIABLES[i])) return true;
  return false;
}

/** @returns an empty measurement: nothing in flight is usual */
export function newLoads(): Loads {
  return { quartile: 0, median: 0, sampled: [] };
}

/** Measures what is usual among the pool's candidates: of many, an evenly spaced sample. */
export function measureLoads(loads: Loads, pool: Pool): void {
  const count = pool.candidate_count;
  if (count === 0) return;
  const size = Math.min(count, LOADS_SAMPLED);
  const sampled: number[] = [];
  for (let k = 0; k < size; k++)
    sampled[k] = loadOf(pool, pool.static_weight, pool.candidates[Math.floor((k * count) / size)]);
  sampled.sort((a, b) => a - b);
  loads.sampled = sampled;
  loads.quartile = sampled[Math.floor((size - 1) / 4)];
  loads.median = sampled[Math.floor((size - 1) / 2)];
}

/** @returns whether more than a quarter of the candidates have less load than the node, now */
function isAboveQuartile(pool: Pool, node: number): boolean {
  const load = loadOf(pool, pool.static_weight, node);
  let less = 0;
  for (let k = 0; k < pool.candidate_count; k++) {
    if (loadOf(pool, pool.static_weight, pool.candidates[k]) < load) less++;
  }
  return less > (pool.candidate_count - 1) / 4;
}

/** @returns whether requests of the role keep away from the node; the loads are live, what is usual ≤ a flush old */
export function avoids(role: Role, loads: Loads, pool: Pool, node: number): boolean {
  if (role === Role.Vip) {
    if (pool.candidate_count <= RANKED_MAX) return isAboveQuartile(pool, node);
    return loadOf(pool, pool.static_weight, node) > loads.quartile;
  }
  if (role !== Role.Batch) return false;
  const in_flight = pool.in_flight[node] + pool.others_in_flight[node];
  if (in_flight > BUSY_SHARE * pool.capacity[node]) return true;
  return in_flight >= BUSY_MIN && loadOf(pool, pool.static_weight, node) > loads.median;
}

function isNameCode(code: number): boolean {
  return (code >= 48 && code <= 57) || (code >= 65 && code <= 90) || (code >= 97 && code <= 122) || code === 95;
}

function isPlain(text: string, dash: boolean): boolean {
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (!isNameCode(code) && !(dash && code === 45)) return false;
  }
  return text.length > 0;
}

/**
 * @param text "$variable", "header:Name", or the name of a class
 * @returns the source, or undefined when the name of the variable or header has characters that none can have
 */
export function parseClassSource(text: string): ClassSource | undefined {
  if (text.startsWith("$")) {
    const variable = text.substring(1);
    return isPlain(variable, false) ? { variable, from_client: isFromClient(variable.toLowerCase()) } : undefined;
  }
  if (!text.startsWith("header:")) return { constant: text, from_client: false };
  const header = text.substring(7);
  if (!isPlain(header, true)) return undefined;
  // nginx's own naming: X-Class is $http_x_class.
  let variable = "http_";
  for (let i = 0; i < header.length; i++) {
    const char = header.charAt(i);
    variable += char === "-" ? "_" : char.toLowerCase();
  }
  return { variable, from_client: true };
}
