/**
 * What the library needs of memory shared by the workers. nginx/shared.ts implements it over
 * lua_shared_dict; tests and the simulator pass a table. No write ever evicts another entry:
 * a full store makes the write return false, and the caller goes on with what it has.
 */
export interface Store {
  /** The value, or undefined when absent. */
  get(this: void, key: string): string | number | undefined;
  /** Writes a value; false when the store is full. */
  set(this: void, key: string, value: string | number): boolean;
  /** Writes only when absent; false when present or full. The atomic test-and-set of elections. */
  add(this: void, key: string, value: string | number): boolean;
  /** Adds to a number, starting from 0; undefined when the store is full. */
  incr(this: void, key: string, by: number): number | undefined;
  remove(this: void, key: string): void;
  /** Appends to a list; its new length, or undefined when the store is full. */
  push(this: void, list: string, value: string): number | undefined;
  /** Takes the oldest entry of a list, or undefined when the list is empty. */
  pop(this: void, list: string): string | undefined;
}
