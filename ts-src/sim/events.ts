/** Queues of things to come, in virtual time. */

/** A binary heap on times: for events in no particular order. Parallel arrays, entry k at index k. */
export interface EventHeap<T> {
  size: number;
  at_ms: number[];
  kind: number[];
  subject: T[];
}

export function newHeap<T>(): EventHeap<T> {
  return { size: 0, at_ms: [], kind: [], subject: [] };
}

function place<T>(heap: EventHeap<T>, k: number, at_ms: number, kind: number, subject: T): void {
  heap.at_ms[k] = at_ms;
  heap.kind[k] = kind;
  heap.subject[k] = subject;
}

function move<T>(heap: EventHeap<T>, to: number, from: number): void {
  place(heap, to, heap.at_ms[from], heap.kind[from], heap.subject[from]);
}

/** @param kind the caller's own numbering */
export function pushEvent<T>(heap: EventHeap<T>, at_ms: number, kind: number, subject: T): void {
  let k = heap.size;
  heap.size++;
  while (k > 0) {
    const parent = (k - 1) >> 1;
    if (heap.at_ms[parent] <= at_ms) break;
    move(heap, k, parent);
    k = parent;
  }
  place(heap, k, at_ms, kind, subject);
}

/** Removes the earliest event, which the caller has read at index 0. */
export function dropEvent<T>(heap: EventHeap<T>): void {
  const last = heap.size - 1;
  heap.size = last;
  const at_ms = heap.at_ms[last];
  let k = 0;
  for (;;) {
    let child = 2 * k + 1;
    if (child >= last) break;
    if (child + 1 < last && heap.at_ms[child + 1] < heap.at_ms[child]) child++;
    if (heap.at_ms[child] >= at_ms) break;
    move(heap, k, child);
    k = child;
  }
  if (last > 0) move(heap, k, last);
}

/** First in, first out. A line of constant delay needs no more. */
export interface Line<T> {
  head: number;
  tail: number;
  at_ms: LuaTable<number, number>;
  subject: LuaTable<number, T>;
}

export function newLine<T>(): Line<T> {
  return { head: 0, tail: 0, at_ms: new LuaTable(), subject: new LuaTable() };
}

/** @param at_ms not before the last one's */
export function append<T>(line: Line<T>, at_ms: number, subject: T): void {
  line.at_ms.set(line.tail, at_ms);
  line.subject.set(line.tail, subject);
  line.tail++;
}

/** @returns the first entry's time; Infinity when there is none */
export function headMs<T>(line: Line<T>): number {
  return line.head < line.tail ? line.at_ms.get(line.head) : Infinity;
}

/** Takes the first entry out; the line must not be empty. */
export function take<T>(line: Line<T>): T {
  const head = line.head;
  const subject = line.subject.get(head);
  line.at_ms.delete(head);
  line.subject.delete(head);
  line.head = head + 1;
  return subject;
}
