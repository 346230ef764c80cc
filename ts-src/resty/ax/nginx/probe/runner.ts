import { nowMs } from "../clock";

/**
 * Makes checks side by side, each in a light thread of one timer. The timer is a new one every few seconds: what nginx
 * sets aside for a timer's threads and sockets is given back at the timer's end only.
 *
 * | | |
 * |---|---|
 * | while it has turns | takes checks and begins them; sleeps until the next is due, 50 ms at most |
 * | after it | the next timer takes turns; this one waits for its own checks to end |
 * | the worker exits, or the owner says stop | ends its checks in the middle |
 */

/** How long one timer begins checks. */
const SHIFT_MS = 3000;

/** At most so long asleep: how fast a stop or an exit is noticed, and trials begin. */
const LONGEST_SLEEP_MS = 50;

/** At least so long: due checks are begun in small groups, not by a timer each. */
const SHORTEST_SLEEP_MS = 5;

/**
 * Checks begun between two sleeps: about 1 ms of work, and 6400 in a second. After a pause of the process many are due,
 * and all of them at once would hold up requests, and the nodes.
 */
const BEGUN_AT_A_TIME = 32;

/** A thread that is still there so long after its check should have ended is ended from outside. */
const OVERDUE_MS = 1000;

/** Who decides what is checked. C is one check. Every call returns at once. */
export interface CheckSource<C> {
  /** @returns false: stop, now */
  wanted(this: void): boolean;
  /** @returns when to ask for checks next, monotonic ms */
  prepare(this: void, now_ms: number): number;
  take(this: void, now_ms: number): C | undefined;
  /** Makes the check; yields. Must give it back itself. */
  run(this: void, check: C): void;
  /** The check broke, or was ended from outside: gives it back without a result. */
  abandon(this: void, check: C, err: string | undefined): void;
  timeoutMs(this: void, check: C): number;
  /** nginx refused the next timer: no checks go on until somebody calls `startRunner` again. */
  onRefused(this: void, err: string): void;
}

interface Running<C> {
  check: C;
  thread?: NgxLightThread;
  ends_ms: number;
  over: boolean;
}

function runOne<C>(source: CheckSource<C>, running: Running<C>): void {
  const [ok, err] = pcall(source.run, running.check);
  running.over = true;
  if (!ok) source.abandon(running.check, tostring(err));
}

/** Drops those that are over; ends those that are overdue, or all of them. */
function tidy<C>(source: CheckSource<C>, all: Running<C>[], end_all: boolean): Running<C>[] {
  const now_ms = nowMs();
  const left: Running<C>[] = [];
  for (const running of all) {
    if (!running.over && (end_all || now_ms > running.ends_ms)) {
      running.over = true;
      if (running.thread !== undefined) ngx.thread.kill(running.thread);
      source.abandon(running.check, undefined);
    }
    if (!running.over) left.push(running);
  }
  return left;
}

function begin<C>(source: CheckSource<C>, check: C, now_ms: number): Running<C> {
  const ends_ms = now_ms + source.timeoutMs(check) + OVERDUE_MS;
  const running: Running<C> = { check, ends_ms, over: false };
  running.thread = ngx.thread.spawn(runOne<C>, source, running);
  return running;
}

/** Begins what is due. @returns for how long to sleep, ms */
function beginDue<C>(source: CheckSource<C>, all: Running<C>[]): number {
  const now_ms = nowMs();
  const next_ms = source.prepare(now_ms);
  for (let begun = 0; begun < BEGUN_AT_A_TIME; begun++) {
    const check = source.take(now_ms);
    if (check === undefined) return Math.min(LONGEST_SLEEP_MS, Math.max(SHORTEST_SLEEP_MS, next_ms - now_ms));
    all.push(begin(source, check, now_ms));
  }
  return SHORTEST_SLEEP_MS;
}

/** One timer's work. */
function shift<C>(source: CheckSource<C>): void {
  const ends_ms = nowMs() + SHIFT_MS;
  let all: Running<C>[] = [];
  let begins = true;
  while (begins || all.length > 0) {
    if (!source.wanted() || ngx.worker.exiting()) {
      tidy(source, all, true);
      return;
    }
    if (begins && nowMs() >= ends_ms) {
      begins = false;
      startRunner(source);
    }
    ngx.sleep((begins ? beginDue(source, all) : LONGEST_SLEEP_MS) / 1000);
    all = tidy(source, all, false);
  }
}

/** Begins to make checks, and goes on until `wanted` says no. Timer or init_worker phase. */
export function startRunner<C>(source: CheckSource<C>): void {
  const [, err] = ngx.timer.at(0, (premature) => {
    if (!premature) shift(source);
  });
  if (err !== undefined) source.onRefused(err);
}
