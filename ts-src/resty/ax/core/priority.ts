import { Role } from "./classes";

/** Priority of a request in the admission queue: 1 (highest) … 5. Requests without a class have 3. */
export const HIGHEST_PRIORITY = 1;
export const DEFAULT_PRIORITY = 3;
export const LOWEST_PRIORITY = 5;

const BY_NAME: Record<string, number | undefined> = { vip: 1, normal: 3, batch: 5 };

/** What a class may stand for, for messages. */
export const MEANINGS = '"vip", "normal", "batch" or a whole number 1..5';

/**
 * @param meaning what the option `classes` says of a class: "vip", "normal", "batch", or 1..5
 * @returns the priority, or undefined when it is none of these
 */
export function priorityOf(meaning: unknown): number | undefined {
  if (typeof meaning === "string") return BY_NAME[meaning];
  if (typeof meaning !== "number" || meaning !== Math.floor(meaning)) return undefined;
  return meaning >= HIGHEST_PRIORITY && meaning <= LOWEST_PRIORITY ? meaning : undefined;
}

/** @returns which nodes requests of a priority go to: the two ends have a role of their own */
export function roleOfPriority(priority: number): Role {
  if (priority === HIGHEST_PRIORITY) return Role.Vip;
  return priority === LOWEST_PRIORITY ? Role.Batch : Role.Normal;
}

/** What reads the classes of requests. nginx/class_reader.ts has the real one; tests pass their own. */
export interface ClassReader {
  /** Name of the class; nothing = none. */
  value(this: void): unknown;
  /** `value` is a function of the user's: it may throw, and return anything. */
  is_function: boolean;
  /** The client's address as bytes: 4, 16, or something else (unix sockets). */
  address(this: void): string | undefined;
}
