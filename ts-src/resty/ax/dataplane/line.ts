/**
 * Requests of this worker that wait for room, and what the other workers' queues look like.
 *
 * Each worker has its own queue per upstream; the order over all of them comes from the entries' keys, which are
 * comparable (monotonic time of one machine, core/queue.ts). A worker with waiters publishes the key of its best one
 * every POLL_MS, and looks for room as often: one of its waiting requests, the poller, sleeps that short instead of
 * until its time-out. No timer is used: those do not run in a worker that shuts down, and its waiters are to be
 * served. A worker that finds room gives it to its own best waiter unless another worker's is better by more than
 * OVERTAKE_MS; then it leaves the room alone, and the other one has it at its next poll.
 *
 * Who owns what: `waiter.state` is written in this worker alone, by whoever gets there first: a hand-over (Granted),
 * the time-out, the client's leaving. A waiter that is no longer Waiting is in no queue, so nobody can hand it
 * anything twice, whatever wakes it and in which order.
 */
import { keyOf, AGE_MS, headKey, newQueue, peek, push, type Queue, remove } from "../core/queue";
import type { RejectReason } from "../core/reject";
import type { Store } from "../core/store";
import { type LineDrain, nextWaiter, takeOut } from "./drain";
import { endTry } from "./in_flight";
import { foldOthers, newOthers, type Others, publishLine } from "./line_exchange";
import type { FaultReporter } from "./pick";
import type { RequestRecord } from "./requests";
import { reserve } from "./reserve";
import type { Upstream } from "./upstream";

/** How often a worker with waiters looks for room that others have freed, ms. */
export const POLL_MS = 2;

/** How much later than another worker's best waiter one of our own may have come, and be served first, ms. */
export const OVERTAKE_MS = 5;

/**
 * Room left to another worker for so long, and still there: that one has no use for it (its best waiter has tried the
 * node already; it has another configuration), ms.
 */
const YIELD_MS = 4 * POLL_MS;

/** Free waiters kept, with a semaphore each. */
const FREE_MAX = 1024;

export const enum WaiterState {
  /** In no queue, of no request. */
  Free = 0,
  Waiting = 1,
  /** It has a place: its record is reserved. */
  Granted = 2,
  /** It has left without one. */
  Left = 3,
}

/** One waiting request. Reused; `use` tells one request from the next. */
export interface Waiter {
  state: WaiterState;
  use: number;
  line: Line | undefined;
  record: RequestRecord | undefined;
  /** In the queue. */
  id: number;
  enqueued_ms: number;
  deadline_ms: number;
  /** The client has gone: a place it may have been given meanwhile goes back. */
  aborted: boolean;
  /** What its thread sleeps on; the hall's `wake` knows what it is. */
  semaphore: unknown;
}

/** The queue of one upstream in this worker. */
export interface Line {
  upstream: Upstream;
  queue: Queue<Waiter>;
  others: Others;
  /** A backlog is being worked off. */
  drain: LineDrain | undefined;
  /** Something of ours is in the shared store. */
  published: boolean;
  /** Since when there has been room that is left to another worker, monotonic ms; 0 = there is none. */
  room_since_ms: number;
  /** Most requests waiting over all workers, as of priority 1..5; and most of each priority. */
  size_of: number[];
  class_size: number[];
  timeout_ms: number;
}

/** All lines of this worker, and who looks after them. */
export interface Hall {
  store: Store;
  /** This worker's number in the shared store; 0 = none yet. */
  slot(this: void): number;
  wake(this: void, waiter: Waiter): void;
  report: FaultReporter;
  lines: Line[];
  /** Sleeps for POLL_MS at a time. Waiting, as long as it is set. */
  poller: Waiter | undefined;
  free: Waiter[];
  free_count: number;
}

export function newHall(store: Store, slot: Hall["slot"], wake: Hall["wake"], report: FaultReporter): Hall {
  return { store, slot, wake, report, lines: [], poller: undefined, free: [], free_count: 0 };
}

/** Gives the upstream a queue. */
export function addLine(hall: Hall, upstream: Upstream, size_of: number[], class_size: number[]): Line {
  const config = upstream.config.queue;
  const size = config?.size ?? 0;
  const line: Line = {
    upstream,
    queue: newQueue<Waiter>({ size, class_sizes: [size, size, size, size, size], age_ms: AGE_MS }),
    others: newOthers(upstream.config.name),
    drain: undefined,
    published: false,
    room_since_ms: 0,
    size_of,
    class_size,
    timeout_ms: config?.timeout_ms ?? 0,
  };
  upstream.door.line = line;
  hall.lines.push(line);
  return line;
}

/** @returns whether somebody, here or in another worker, is to be served before an entry with this key */
export function isBehind(hall: Hall, line: Line, key: number, now_ms: number): boolean {
  if (headKey(line.queue) <= key) return true;
  foldOthers(line.others, hall.store, hall.slot(), now_ms);
  return line.others.key + OVERTAKE_MS < key;
}

function takeWaiter(hall: Hall): Waiter {
  if (hall.free_count > 0) {
    hall.free_count--;
    return hall.free[hall.free_count];
  }
  return {
    state: WaiterState.Free,
    use: 0,
    line: undefined,
    record: undefined,
    id: -1,
    enqueued_ms: 0,
    deadline_ms: 0,
    aborted: false,
    semaphore: undefined,
  };
}

/**
 * Puts a request into the queue; its record then has a waiter.
 * @param patience_ms longest wait the client has in mind
 * @returns why it may not wait, or undefined
 */
export function join(
  hall: Hall,
  line: Line,
  record: RequestRecord,
  now_ms: number,
  patience_ms: number,
): RejectReason | undefined {
  const wait_ms = math.min(line.timeout_ms, patience_ms);
  if (wait_ms <= 0) return "queue_timeout";
  foldOthers(line.others, hall.store, hall.slot(), now_ms);
  const at = record.priority - 1;
  const queue = line.queue;
  if (queue.length + line.others.length >= line.size_of[at]) return "queue_full";
  if (queue.counts[at] + line.others.counts[at] >= line.class_size[at]) return "queue_full";
  const waiter = takeWaiter(hall);
  const id = push(queue, waiter, record.priority, now_ms, Infinity);
  if (id < 0) return "queue_full";
  waiter.state = WaiterState.Waiting;
  waiter.line = line;
  waiter.record = record;
  waiter.id = id;
  waiter.enqueued_ms = now_ms;
  waiter.deadline_ms = now_ms + wait_ms;
  waiter.aborted = false;
  record.waiter = waiter;
  // A better one, or the first: the others are to know at once.
  if (headKey(queue) === keyOf(record.priority, now_ms, AGE_MS)) publishLine(hall, line, now_ms);
  return undefined;
}

/** Whether the room there is belongs to another worker's waiter; keeps count of how long it has been left alone. */
function yieldsRoom(line: Line, now_ms: number): boolean {
  if (line.others.key + OVERTAKE_MS >= headKey(line.queue)) {
    line.room_since_ms = 0;
    return false;
  }
  if (line.room_since_ms === 0) line.room_since_ms = now_ms;
  if (now_ms - line.room_since_ms < YIELD_MS) return true;
  line.room_since_ms = 0;
  return false;
}

/** Hands what room there is to the waiters whose turn it is, in order. Any phase. */
export function serve(hall: Hall, line: Line, now_ms: number): void {
  const queue = line.queue;
  if (queue.length === 0) return;
  foldOthers(line.others, hall.store, hall.slot(), now_ms);
  while (queue.length > 0) {
    const waiter = nextWaiter(line) as Waiter;
    const record = waiter.record as RequestRecord;
    if (!reserve(line.upstream, record, now_ms, hall.report)) {
      line.room_since_ms = 0;
      break;
    }
    if (yieldsRoom(line, now_ms)) {
      endTry(record);
      break;
    }
    takeOut(line, waiter);
    waiter.state = WaiterState.Granted;
    hall.wake(waiter);
  }
  publishLine(hall, line, now_ms);
}

/** Room has come free in this worker. */
export function roomCame(hall: Hall, upstream: Upstream, now_ms: number): void {
  const line = upstream.door.line;
  if (line !== undefined && line.queue.length > 0) serve(hall, line, now_ms);
}

/** What the poller does when it wakes. */
export function poll(hall: Hall, now_ms: number): void {
  for (const line of hall.lines) if (line.queue.length > 0) serve(hall, line, now_ms);
}

/** Any waiter may be the poller: wakes one, and it finds the place vacant. */
function passPoll(hall: Hall): void {
  hall.poller = undefined;
  for (const line of hall.lines) {
    const waiter = peek(line.queue);
    if (waiter !== undefined) {
      hall.wake(waiter);
      return;
    }
  }
}

/** The waiter leaves the queue without a place: time-out, or its client has gone. No effect when it has been served. */
export function leave(hall: Hall, waiter: Waiter, now_ms: number): void {
  if (waiter.state !== WaiterState.Waiting) return;
  waiter.state = WaiterState.Left;
  const line = waiter.line as Line;
  remove(line.queue, waiter.id);
  publishLine(hall, line, now_ms);
}

/**
 * The request's waiting is over, however it ended.
 * @param clean nothing is left on the semaphore: another request may use it
 */
export function endWait(hall: Hall, waiter: Waiter, clean: boolean): void {
  if (waiter.record !== undefined) waiter.record.waiter = undefined;
  waiter.record = undefined;
  waiter.line = undefined;
  waiter.state = WaiterState.Free;
  waiter.use++;
  // Vacant: it may have been the one that was woken to take the place.
  if (hall.poller === waiter || hall.poller === undefined) passPoll(hall);
  if (clean && hall.free_count < FREE_MAX) {
    hall.free[hall.free_count] = waiter;
    hall.free_count++;
  }
}

/** The request ended while its thread slept: nothing will wake it any more. Log phase. */
export function abandon(hall: Hall, waiter: Waiter, now_ms: number): void {
  leave(hall, waiter, now_ms);
  endWait(hall, waiter, false);
}
