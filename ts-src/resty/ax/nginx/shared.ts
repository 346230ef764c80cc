import type { Store } from "../core/store";

/** The store over a lua_shared_dict zone, and what the status page says of it. */
export interface SharedStore extends Store {
  capacityBytes(this: void): number;
  /** Bytes in wholly free pages: 0 does not mean full. */
  freeBytes(this: void): number;
}

/** Where there is no room rpush answers false, not nil. */
function lengthOf(answer: unknown): number | undefined {
  return typeof answer === "number" ? answer : undefined;
}

/**
 * @param name of a lua_shared_dict zone
 * @returns undefined when the nginx configuration has no such zone
 */
export function openStore(name: string): SharedStore | undefined {
  const dict = ngx.shared[name];
  if (dict === undefined) return undefined;
  return {
    get(key) {
      const [value] = dict.get(key);
      return value as string | number | undefined;
    },
    set(key, value) {
      const [ok] = dict.safe_set(key, value);
      return ok === true;
    },
    add(key, value) {
      const [ok] = dict.safe_add(key, value);
      return ok === true;
    },
    incr(key, by) {
      // Without an initial value incr never evicts; with one it may.
      const [value, err] = dict.incr(key, by);
      if (value !== undefined) return value;
      // Somebody else wrote to our key: it would be in the way for ever.
      if (err === "not a number") dict.delete(key);
      if (dict.safe_add(key, 0)[0] !== true && dict.get(key)[0] === undefined) return undefined;
      return dict.incr(key, by)[0];
    },
    remove(key) {
      dict.delete(key);
    },
    push(list, value) {
      const [length, err] = dict.rpush(list, value);
      if (err !== "value not a list") return lengthOf(length);
      // Somebody else wrote to our key: it would be in the way for ever.
      dict.delete(list);
      return lengthOf(dict.rpush(list, value)[0]);
    },
    pop(list) {
      const [value] = dict.lpop(list);
      return value as string | undefined;
    },
    capacityBytes: () => dict.capacity(),
    freeBytes: () => dict.free_space(),
  };
}
