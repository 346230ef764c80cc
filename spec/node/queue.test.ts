// The same vectors as spec/unit/queue_spec.lua: the queue must give the same order in Lua and in JavaScript.
import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import * as q from "../../ts-src/resty/ax/core/queue";

interface Case {
  name: string;
  size: number;
  class_sizes: number[];
  age_ms: number;
  /** What, when, and what spec/vectors/queue.py describes. */
  ops: [string, number, ...unknown[]][];
}

const { queue: cases } = JSON.parse(readFileSync(new URL("../vectors/queue.json", import.meta.url), "utf8")) as {
  queue: Case[];
};

const NO_LIMIT = [Infinity, Infinity, Infinity, Infinity, Infinity];

function newQueue(age_ms = q.AGE_MS): q.Queue<string> {
  return q.newQueue<string>({ size: 100_000, class_sizes: NO_LIMIT, age_ms });
}

/** The five lines as the rule words them: whoever has been in one for `age_ms` joins the end of the one above. */
class Lines {
  private readonly lines: { name: string; joined_ms: number; order: number }[][] = [[], [], [], [], []];
  private order = 0;
  constructor(private readonly age_ms: number) {}

  advance(now_ms: number): void {
    for (;;) {
      let from = -1;
      for (let k = 1; k < 5; k++) {
        const head = this.lines[k].at(0);
        const best = from < 0 ? undefined : this.lines[from][0];
        if (head === undefined || head.joined_ms + this.age_ms > now_ms) continue;
        const sooner = best === undefined || head.joined_ms < best.joined_ms;
        if (sooner || (head.joined_ms === best.joined_ms && head.order < best.order)) from = k;
      }
      if (from < 0) return;
      const entry = this.lines[from].shift();
      if (entry === undefined) return;
      entry.joined_ms += this.age_ms;
      this.lines[from - 1].push(entry);
    }
  }

  push(name: string, cls: number, now_ms: number): void {
    this.lines[cls - 1].push({ name, joined_ms: now_ms, order: this.order++ });
  }

  pop(): string | undefined {
    return this.lines.find((line) => line.length > 0)?.shift()?.name;
  }

  remove(name: string): void {
    for (const line of this.lines) {
      const at = line.findIndex((entry) => entry.name === name);
      if (at >= 0) line.splice(at, 1);
    }
  }
}

describe("the queue in JavaScript", () => {
  it.each(cases)("gives the order of the rule: $name", (given) => {
    const queue = q.newQueue<string>(given);
    const ids: Record<string, number> = {};
    for (const [what, now_ms, ...rest] of given.ops) {
      if (what === "push") {
        const [name, cls, deadline, answer] = rest as [string, number, number, string];
        const id = q.push(queue, name, cls, now_ms, deadline < 0 ? Infinity : deadline);
        if (id >= 0) ids[name] = id;
        expect(id === q.QUEUE_FULL ? "full" : id === q.CLASS_FULL ? "class_full" : "queued").toBe(answer);
      } else if (what === "pop") expect(q.pop(queue) ?? "").toBe(rest[0]);
      else if (what === "expire") expect(q.expire(queue, now_ms) ?? "").toBe(rest[0]);
      else expect(q.remove(queue, ids[rest[0] as string] ?? -1)).toBe(rest[1]);
    }
    expect(queue.length).toBe(0);
  });

  it("agrees with five lines that entries move up in, whatever happens", () => {
    // Small steps and a short age: many entries rise in the same instant as others arrive.
    const step = fc.record({
      wait: fc.constantFrom(0, 0, 1, 3, 7, 20),
      what: fc.constantFrom("push", "push", "pop", "remove"),
      cls: fc.integer({ min: 1, max: 5 }),
      at: fc.nat(),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200 }), fc.constantFrom(1, 5, 10), (steps, age_ms) => {
        const queue = newQueue(age_ms);
        const lines = new Lines(age_ms);
        const ids: number[] = [];
        let now_ms = 0;
        steps.forEach(({ wait, what, cls, at }, k) => {
          now_ms += wait;
          lines.advance(now_ms);
          if (what === "push") {
            ids[k] = q.push(queue, `${k}`, cls, now_ms, Infinity);
            lines.push(`${k}`, cls, now_ms);
          } else if (what === "pop") expect(q.pop(queue)).toBe(lines.pop());
          else if (k > 0) {
            q.remove(queue, ids[at % k] ?? -1);
            lines.remove(`${at % k}`);
          }
        });
        while (queue.length > 0) expect(q.pop(queue)).toBe(lines.pop());
        expect(lines.pop()).toBeUndefined();
      }),
      { numRuns: 400, seed: 5 },
    );
  });

  it("never takes an id for that of the entry that has its place now", () => {
    const queue = newQueue();
    const first = q.push(queue, "first", 1, 0, Infinity);
    expect(q.pop(queue)).toBe("first");
    const second = q.push(queue, "second", 1, 0, Infinity);
    expect(second).not.toBe(first);
    expect(q.remove(queue, first)).toBe(false);
    expect(q.isQueued(queue, first)).toBe(false);
    expect(q.isQueued(queue, second)).toBe(true);
    expect(q.remove(queue, second)).toBe(true);
    expect(q.remove(queue, second)).toBe(false);
  });
});
