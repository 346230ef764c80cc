/** Requests with keys, and the caches that the nodes would have. */

const KEYS = 1000;
const HOT_SHARE = 0.3;
const CACHE_KEYS = 150;

/** A node counts as serving the hot key when it gets more than this share of its requests: revisits do not. */
const SERVING_SHARE = 0.02;

/** Seeded, so that every contender gets the same keys: Lehmer's generator (Park & Miller 1988). */
function* draws(seed: number): Generator<number> {
  for (let state = seed; ;) {
    state = (state * 48271) % 2147483647;
    yield state / 2147483647;
  }
}

/** Keys of `count` requests: one is hot, the others as popular as Zipf has it. */
export function drawKeys(count: number): number[] {
  const cumulated: number[] = [];
  let sum = 0;
  for (let k = 1; k < KEYS; k++) cumulated.push((sum += 1 / k));
  const random = draws(4711);
  const next = (): number => random.next().value as number;
  return Array.from({ length: count }, () => {
    if (next() < HOT_SHARE) return 0;
    const at = next() * sum;
    let k = 0;
    while (cumulated[k] < at) k++;
    return k + 1;
  });
}

export interface KeyFigures {
  /** Share of the requests whose node had the key among the last that it served, 0..1. */
  hit_ratio: number;
  /** Nodes that serve the hot key. */
  hot_nodes: number;
}

/** Follows which node gets which key. */
export function newKeyTally(): { note(key: number, node: string): void; figures(): KeyFigures } {
  const caches = new Map<string, Map<number, true>>();
  const hot = new Map<string, number>();
  let hits = 0;
  let requests = 0;
  return {
    note(key, node) {
      requests++;
      const cache = caches.get(node) ?? new Map<number, true>();
      caches.set(node, cache);
      if (cache.delete(key)) hits++;
      cache.set(key, true);
      // A Map goes in the order of insertion: the first is the one longest unused.
      if (cache.size > CACHE_KEYS) cache.delete(cache.keys().next().value!);
      if (key === 0) hot.set(node, (hot.get(node) ?? 0) + 1);
    },
    figures() {
      const total = [...hot.values()].reduce((sum, count) => sum + count, 0);
      const hot_nodes = [...hot.values()].filter((count) => count > SERVING_SHARE * total).length;
      return { hit_ratio: requests > 0 ? hits / requests : 0, hot_nodes };
    },
  };
}
