/**
 * The admission queue: what waits for its turn, by priority class and age. Pure: the gateway's access
 * phase and the task executor use the same. Times are monotonic ms, passed in, never going back.
 *
 * The rule. Each of the five levels is a first-come-first-served line. An entry of class c joins the end
 * of line c; after each `age_ms` in a line it moves to the end of the line above, up to line 1. The next
 * one out is the head of the first line that is not empty.
 *
 * The key. An entry reaches line 1 at `enqueued + (c − 1) · age_ms`, a number that never changes. Taking
 * the lowest key, and of equal keys the one enqueued first, is exactly the rule:
 * - two in the same line L: both keys are the time of joining L plus (L − 1) · age_ms, so the order of
 *   the keys is the order of joining;
 * - a in a line above b: were b's key the lower or an equal one, b would have risen as far as a by now;
 * - joining one line in the same instant: those who rise go before those who arrive, as the clock is
 *   taken to move before anything happens at its new time; the earlier enqueued has risen further.
 * The cap ("up to line 1") costs nothing: in line 1 the key is the time of joining it, and stays.
 * Where another reading differs: were a line ordered by the time of *enqueueing*, an entry that rises
 * would jump over all that came to the line above before it rose. Then, with a backlog of more than
 * `4 · age_ms`, everybody is in line 1 in order of enqueueing, and class 1 waits like all others.
 *
 * No starvation: an entry waits for those before it at its arrival, and for at most those that arrive in
 * better classes within the next (c − 1) · age_ms; later ones have higher keys.
 *
 * One heap a class, so that a class can also be taken from by itself (core/drain.ts); one more by
 * deadline. push, pop, remove and expire are O(log n) in the entries that wait, and allocate nothing
 * once the arrays have grown.
 */
import { type Heap, heapHead, heapPush, heapRemove, newHeap } from "./heap";

/** 1 is the highest. */
export const CLASS_COUNT = 5;

/** Ten seconds in a line lift an entry to the one above. */
export const AGE_MS = 10000;

/** What `push` answers instead of an id. */
export const QUEUE_FULL = -1;
export const CLASS_FULL = -2;

/** Ids are use × this + slot: a slot's next user has another id. */
const SLOT_SPAN = 16777216;

/** Uses of a slot before its ids begin again: id stays below 2^53. */
const USES = 536870912;

export interface QueueOptions {
  /** Most entries in all: 1 .. 16777215. */
  size: number;
  /** Most entries of each class 1..5, in this order. */
  class_sizes: number[];
  /** Ms after which an entry moves up a line: 1 .. 10^12 (for ever). */
  age_ms: number;
}

export interface Queue<T> {
  options: QueueOptions;
  /** Entries waiting, in all and by class − 1. */
  length: number;
  counts: number[];
  by_class: Heap[];
  by_deadline: Heap;
  /** By slot. */
  item: (T | undefined)[];
  class_of: number[];
  use: number[];
  deadline_ms: number[];
  enqueued_ms: number[];
  key: number[];
  order: number[];
  /** Slots that are free: free[0 .. free_count-1]. */
  free: number[];
  free_count: number;
  slot_count: number;
  next_order: number;
}

export function newQueue<T>(options: QueueOptions): Queue<T> {
  const key: number[] = [];
  const order: number[] = [];
  const deadline_ms: number[] = [];
  const at: number[] = [];
  const by_class: Heap[] = [];
  const counts: number[] = [];
  for (let k = 0; k < CLASS_COUNT; k++) {
    by_class[k] = newHeap(key, order, at);
    counts[k] = 0;
  }
  return {
    options,
    length: 0,
    counts,
    by_class,
    by_deadline: newHeap(deadline_ms, order, []),
    item: [],
    class_of: [],
    use: [],
    deadline_ms,
    enqueued_ms: [],
    key,
    order,
    free: [],
    free_count: 0,
    slot_count: 0,
    next_order: 0,
  };
}

/**
 * The place of an entry among all others, of other workers' queues too (their clocks are one): lower
 * goes first.
 *
 * @param cls 1..5
 */
export function keyOf(cls: number, enqueued_ms: number, age_ms: number): number {
  return cls === 1 ? enqueued_ms : enqueued_ms + (cls - 1) * age_ms;
}

function takeSlot<T>(queue: Queue<T>): number {
  if (queue.free_count > 0) {
    queue.free_count--;
    return queue.free[queue.free_count];
  }
  const slot = queue.slot_count;
  queue.slot_count++;
  queue.use[slot] = 0;
  queue.by_class[0].at[slot] = -1;
  queue.by_deadline.at[slot] = -1;
  return slot;
}

/**
 * Lines an entry up.
 *
 * @param item what waits; handed back by pop and expire
 * @param cls 1..5
 * @param enqueued_ms when its waiting began: now, or an earlier time for one that goes back to its place
 * @param deadline_ms when it has waited long enough; Infinity = never
 * @returns its id, for `remove`; QUEUE_FULL or CLASS_FULL when there is no room
 */
export function push<T>(queue: Queue<T>, item: T, cls: number, enqueued_ms: number, deadline_ms: number): number {
  if (queue.length >= queue.options.size) return QUEUE_FULL;
  if (queue.counts[cls - 1] >= queue.options.class_sizes[cls - 1]) return CLASS_FULL;
  const slot = takeSlot(queue);
  queue.item[slot] = item;
  queue.class_of[slot] = cls;
  queue.enqueued_ms[slot] = enqueued_ms;
  queue.deadline_ms[slot] = deadline_ms;
  queue.key[slot] = keyOf(cls, enqueued_ms, queue.options.age_ms);
  queue.order[slot] = queue.next_order;
  queue.next_order++;
  queue.length++;
  queue.counts[cls - 1]++;
  heapPush(queue.by_class[cls - 1], slot);
  if (deadline_ms < Infinity) heapPush(queue.by_deadline, slot);
  return queue.use[slot] * SLOT_SPAN + slot;
}

/** Takes a slot's entry out, wherever it stands. */
function take<T>(queue: Queue<T>, slot: number): T {
  const item = queue.item[slot] as T;
  const at = queue.class_of[slot] - 1;
  heapRemove(queue.by_class[at], slot);
  if (queue.by_deadline.at[slot] >= 0) heapRemove(queue.by_deadline, slot);
  queue.item[slot] = NOTHING as T;
  queue.use[slot] = (queue.use[slot] + 1) % USES;
  queue.length--;
  queue.counts[at]--;
  queue.free[queue.free_count] = slot;
  queue.free_count++;
  return item;
}

/** Stands in free slots, so that they hold nothing alive and the array has no holes. */
const NOTHING: unknown = {};

/** @returns the slot that goes first; -1 = nothing waits */
function firstSlot<T>(queue: Queue<T>): number {
  let first = -1;
  for (let k = 0; k < CLASS_COUNT; k++) {
    const slot = heapHead(queue.by_class[k]);
    if (slot >= 0 && (first < 0 || goesBefore(queue, slot, first))) first = slot;
  }
  return first;
}

function goesBefore<T>(queue: Queue<T>, a: number, b: number): boolean {
  const key_a = queue.key[a];
  const key_b = queue.key[b];
  return key_a < key_b || (key_a === key_b && queue.order[a] < queue.order[b]);
}

/** @returns the key (see keyOf) of the entry that goes first; Infinity = nothing waits */
export function headKey<T>(queue: Queue<T>): number {
  const slot = firstSlot(queue);
  return slot < 0 ? Infinity : queue.key[slot];
}

/** @returns the entry that goes first, left in its place; undefined = nothing waits */
export function peek<T>(queue: Queue<T>): T | undefined {
  const slot = firstSlot(queue);
  return slot < 0 ? undefined : queue.item[slot];
}

/** @returns the entry that goes first, taken out; undefined = nothing waits */
export function pop<T>(queue: Queue<T>): T | undefined {
  const slot = firstSlot(queue);
  return slot < 0 ? undefined : take(queue, slot);
}

/**
 * @param cls 1..5
 * @returns the class's entry that goes first, taken out; undefined = none of the class waits
 */
export function popClass<T>(queue: Queue<T>, cls: number): T | undefined {
  const slot = heapHead(queue.by_class[cls - 1]);
  return slot < 0 ? undefined : take(queue, slot);
}

/**
 * @param cls 1..5; 0 = no class
 * @returns the class's entry that goes first, left in its place; undefined = none of the class waits
 */
export function peekClass<T>(queue: Queue<T>, cls: number): T | undefined {
  const slot = cls > 0 ? heapHead(queue.by_class[cls - 1]) : -1;
  return slot < 0 ? undefined : queue.item[slot];
}

/** @returns the slot of an id, or -1 when its entry has left the queue */
function slotOf<T>(queue: Queue<T>, id: number): number {
  if (id < 0) return -1;
  const slot = id % SLOT_SPAN;
  if (slot >= queue.slot_count || queue.by_class[0].at[slot] < 0) return -1;
  return queue.use[slot] === (id - slot) / SLOT_SPAN ? slot : -1;
}

/** @returns whether the entry still waits */
export function isQueued<T>(queue: Queue<T>, id: number): boolean {
  return slotOf(queue, id) >= 0;
}

/**
 * Takes one entry out.
 *
 * @param id as `push` gave it
 * @returns whether it was there: false when it was popped, expired or removed before
 */
export function remove<T>(queue: Queue<T>, id: number): boolean {
  const slot = slotOf(queue, id);
  if (slot < 0) return false;
  take(queue, slot);
  return true;
}

/** @returns the earliest deadline; Infinity = none */
export function nextDeadline<T>(queue: Queue<T>): number {
  const slot = heapHead(queue.by_deadline);
  return slot < 0 ? Infinity : queue.deadline_ms[slot];
}

/** @returns one entry whose deadline has come, taken out, the earliest first; undefined = no more */
export function expire<T>(queue: Queue<T>, now_ms: number): T | undefined {
  const slot = heapHead(queue.by_deadline);
  return slot >= 0 && queue.deadline_ms[slot] <= now_ms ? take(queue, slot) : undefined;
}

/**
 * The line an entry stands in now: its class, less one for each `age_ms` waited.
 *
 * @returns 1..5; 0 when it has left the queue
 */
export function levelOf<T>(queue: Queue<T>, id: number, now_ms: number): number {
  const slot = slotOf(queue, id);
  if (slot < 0) return 0;
  const risen = Math.floor((now_ms - queue.enqueued_ms[slot]) / queue.options.age_ms);
  return Math.max(1, queue.class_of[slot] - risen);
}
