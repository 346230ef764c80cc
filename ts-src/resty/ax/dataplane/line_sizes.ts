/** From an upstream's option `queue` to its line. */
import { DEFAULT_CLASSES } from "../core/classes";
import type { UpstreamConfig } from "../core/model";
import { LOWEST_PRIORITY, priorityOf } from "../core/priority";
import { addLine, type Hall } from "./line";
import type { Upstream } from "./upstream";

/** Less of the queue for each step down in priority: room for higher ones when lower ones have piled up. */
const SHARE_STEP = 0.1;

/** Most requests waiting in all when one of priority 1..5 comes. */
function sizesOf(size: number, shared: boolean): number[] {
  const sizes: number[] = [];
  for (const priority of $range(1, LOWEST_PRIORITY)) {
    const share = shared ? 1 - (priority - 1) * SHARE_STEP : 1;
    sizes.push(math.max(1, math.floor(size * share + 0.5)));
  }
  return sizes;
}

/** Most requests of priority 1..5 waiting. */
function classSizesOf(config: UpstreamConfig, given: Record<string, number>): number[] {
  const sizes: number[] = [];
  for (let k = 0; k < LOWEST_PRIORITY; k++) sizes[k] = Infinity;
  for (const [name, meaning] of pairs(config.classes ?? DEFAULT_CLASSES)) {
    const priority = priorityOf(meaning);
    const size = given[name] as number | undefined;
    if (priority !== undefined && size !== undefined) sizes[priority - 1] = math.min(sizes[priority - 1], size);
  }
  return sizes;
}

/** Gives the upstream a line of the length that its configuration asks for; none without a `queue`. init_worker phase. */
export function setUpLine(hall: Hall, upstream: Upstream): void {
  const config = upstream.config;
  const queue = config.queue;
  if (queue === undefined) return;
  // All alike, or limits of their own: then the size is there for everybody.
  const shared = config.class_source !== undefined && next(queue.class_sizes)[0] === undefined;
  addLine(hall, upstream, sizesOf(queue.size, shared), classSizesOf(config, queue.class_sizes));
}
