import type { Store } from "../resty/ax/core/store";
import { append, type Line, newLine, take } from "./events";

interface Entry {
  value: string | number;
  /** Infinity = for ever. */
  until_ms: number;
}

/** Plain values. */
interface Values {
  clock: { now_ms: number };
  entries: Record<string, Entry | undefined>;
}

function find(values: Values, key: string): Entry | undefined {
  const entry = values.entries[key];
  if (entry === undefined || entry.until_ms > values.clock.now_ms) return entry;
  values.entries[key] = undefined;
  return undefined;
}

function write(values: Values, key: string, value: string | number, life_s?: number): void {
  const life_ms = life_s === undefined || life_s <= 0 ? Infinity : life_s * 1000;
  values.entries[key] = { value, until_ms: values.clock.now_ms + life_ms };
}

/**
 * The memory that one gateway's workers share, with the whole meaning of core/store.ts: lives, add as
 * test-and-set, lists. It is never full.
 * @param clock virtual time, ms
 */
export function newStore(clock: { now_ms: number }): Store {
  const values: Values = { clock, entries: {} };
  const lists: Record<string, Line<string> | undefined> = {};
  return {
    get: (key) => find(values, key)?.value,
    set(key, value, life_s) {
      write(values, key, value, life_s);
      return true;
    },
    add(key, value, life_s) {
      if (find(values, key) !== undefined) return false;
      write(values, key, value, life_s);
      return true;
    },
    incr(key, by) {
      const entry = find(values, key);
      if (entry === undefined) {
        write(values, key, by);
        return by;
      }
      if (typeof entry.value !== "number") return undefined;
      entry.value += by;
      return entry.value;
    },
    remove(key) {
      values.entries[key] = undefined;
    },
    push(list, value) {
      let line = lists[list];
      if (line === undefined) {
        line = newLine();
        lists[list] = line;
      }
      append(line, 0, value);
      return line.tail - line.head;
    },
    pop(list) {
      const line = lists[list];
      return line === undefined || line.head === line.tail ? undefined : take(line);
    },
  };
}
