import type { Store } from "../resty/ax/core/store";
import { append, type Line, newLine, take } from "./events";

/**
 * The memory that one gateway's workers share, with the whole meaning of core/store.ts: add as test-and-set, counters
 * from 0, lists. It is never full.
 */
export function newStore(): Store {
  const values: Record<string, string | number | undefined> = {};
  const lists: Record<string, Line<string> | undefined> = {};
  return {
    get: (key) => values[key],
    set(key, value) {
      values[key] = value;
      return true;
    },
    add(key, value) {
      if (values[key] !== undefined) return false;
      values[key] = value;
      return true;
    },
    incr(key, by) {
      const before = values[key] ?? 0;
      if (typeof before !== "number") return undefined;
      values[key] = before + by;
      return before + by;
    },
    remove(key) {
      values[key] = undefined;
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
