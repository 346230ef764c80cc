// One node with slots and a line of its own, behind an adaptive limit and an admission queue, in virtual time.
import {
  type GradientOptions,
  limitInForce,
  newGradient,
  observe,
  type Phase,
  step,
} from "../../ts-src/resty/ax/core/gradient";
import { addCount, bucketOf, newCounts, toSparse } from "../../ts-src/resty/ax/core/histogram";
import { draw, newRandom, type Random } from "../../ts-src/resty/ax/core/random";

export interface Node {
  /** Requests worked on at a time; more wait at the node. By virtual time. */
  slots: (now_ms: number) => number;
  /** Mean time of work, ms. */
  service_ms: (now_ms: number) => number;
  /** Requests that come, as a share of what the node could do at the start. */
  rho: number;
  spread: "fixed" | "exp" | "lognormal" | "bimodal";
  seed: number;
}

export interface Look {
  now_ms: number;
  limit: number;
  phase: Phase;
  /** In the gateway's queue. */
  waiting: number;
}

/** What the collector looks at, ms. */
const INTERVAL_MS = 500;

/** Places in the gateway's queue. */
const QUEUE = 200;

function exponential(random: Random): number {
  return -Math.log(1 - draw(random));
}

const SPREADS: Record<Node["spread"], (random: Random) => number> = {
  fixed: () => 1,
  exp: exponential,
  lognormal: (random) => {
    const normal = Math.sqrt(2 * exponential(random)) * Math.cos(2 * Math.PI * draw(random));
    return Math.exp(0.6 * normal - 0.18);
  },
  // One in twenty takes twenty times as long.
  bimodal: (random) => (exponential(random) * (draw(random) < 0.05 ? 20 : 1)) / 1.95,
};

/** Events by time: a binary heap of [time, number, action]. */
class Agenda {
  private readonly heap: [number, number, () => void][] = [];
  private count = 0;

  at(time_ms: number, action: () => void): void {
    const heap = this.heap;
    let k = heap.push([time_ms, this.count++, action]) - 1;
    for (let up = (k - 1) >> 1; k > 0 && heap[up][0] > heap[k][0]; up = (k - 1) >> 1) {
      [heap[up], heap[k]] = [heap[k], heap[up]];
      k = up;
    }
  }

  next(): [number, number, () => void] {
    const heap = this.heap;
    const first = heap[0];
    const last = heap.pop();
    if (last === undefined) throw new Error("nothing left to happen");
    if (heap.length > 0) heap[0] = last;
    for (let k = 0; ;) {
      let least = k;
      for (const child of [2 * k + 1, 2 * k + 2]) {
        if (child < heap.length && heap[child][0] < heap[least][0]) least = child;
      }
      if (least === k) return first;
      [heap[least], heap[k]] = [heap[k], heap[least]];
      k = least;
    }
  }
}

/** @returns the limit at every look; requests served, and what the node could have served of those that came */
export function runNode(
  node: Node,
  options: GradientOptions,
  duration_ms: number,
): { looks: Look[]; served: number; capacity: number } {
  const random = newRandom(node.seed);
  const agenda = new Agenda();
  const gradient = newGradient(options, 0);
  const line: number[] = [];
  const looks: Look[] = [];
  const capacity_per_ms = node.slots(0) / node.service_ms(0);
  let [now_ms, waiting, in_flight, busy, served] = [0, 0, 0, 0, 0];
  let [ok, sum_ms, counts] = [0, 0, newCounts()];

  const end = (sent_ms: number): void => {
    busy--;
    in_flight--;
    served++;
    // nginx' clock has whole milliseconds.
    const latency_ms = Math.floor(now_ms) - Math.floor(sent_ms);
    ok++;
    sum_ms += latency_ms;
    addCount(counts, bucketOf(latency_ms), 1);
    admit();
  };
  const work = (): void => {
    while (busy < node.slots(now_ms)) {
      const sent_ms = line.shift();
      if (sent_ms === undefined) return;
      busy++;
      const took_ms = node.service_ms(now_ms) * SPREADS[node.spread](random);
      agenda.at(now_ms + took_ms, () => end(sent_ms));
    }
  };
  const admit = (): void => {
    for (; waiting > 0 && in_flight < limitInForce(gradient, options); waiting--) {
      in_flight++;
      line.push(now_ms);
    }
    work();
  };
  const arrive = (): void => {
    if (waiting < QUEUE) waiting++;
    admit();
    agenda.at(now_ms + exponential(random) / (node.rho * capacity_per_ms), arrive);
  };
  const look = (): void => {
    observe(gradient, ok, toSparse(counts), sum_ms, 0);
    step(gradient, options, in_flight, true, now_ms);
    [ok, sum_ms, counts] = [0, 0, newCounts()];
    looks.push({ now_ms, limit: gradient.limit, phase: gradient.phase, waiting });
    admit();
    agenda.at(now_ms + INTERVAL_MS, look);
  };
  agenda.at(0, arrive);
  agenda.at(INTERVAL_MS, look);
  while (now_ms < duration_ms) {
    const [time_ms, , action] = agenda.next();
    now_ms = time_ms;
    action();
  }
  return { looks, served, capacity: Math.min(1, node.rho) * capacity_per_ms * duration_ms };
}
