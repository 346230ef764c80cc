/**
 * Whether log() runs for an upstream's requests. Where it does not (a location's log_by_lua replaces the one at http
 * level), the ends of requests are unseen: nothing is learnt, and counts in flight only grow.
 */

/** Of one upstream in one worker. Written by the log phase, and where a request is found at another's address. */
export interface LogWatch {
  /** log() has run for a request of this upstream. */
  seen: boolean;
  /** Requests whose log phase did not run, as seen when another one came to the same address. */
  missed: number;
  /** How many since there was none for `MISSED_FRESH_MS`; and when the last was, monotonic ms. */
  missed_lately: number;
  missed_at_ms: number;
}

/** For so long a missed log phase makes more of them likely. Not for ever: the user's own Lua may have thrown once. */
const MISSED_FRESH_MS = 600000;

/** So many are no accident, but the configuration. */
const MISSED_OFTEN = 10;

/** Picks without one log() call that make its absence certain. */
const PICKS_WITHOUT_LOG = 200;

export function newLogWatch(): LogWatch {
  return { seen: false, missed: 0, missed_lately: 0, missed_at_ms: 0 };
}

/** Whether the ends of some requests go unseen. Any phase. */
export function missesSome(logs: LogWatch, now_ms: number): boolean {
  return logs.missed > 0 && now_ms - logs.missed_at_ms < MISSED_FRESH_MS;
}

/** Whether so many do that no request's end can be relied on. Timer phase. */
export function missesOften(logs: LogWatch, now_ms: number): boolean {
  return logs.missed_lately >= MISSED_OFTEN && missesSome(logs, now_ms);
}

/** A request has ended, as is seen now, and its log phase did not run. Any phase. */
export function noteMissed(logs: LogWatch, now_ms: number): void {
  logs.missed_lately = missesSome(logs, now_ms) ? logs.missed_lately + 1 : 1;
  logs.missed++;
  logs.missed_at_ms = now_ms;
}

/**
 * @param name of the upstream
 * @param picks of it in this worker
 * @param log_ran whether log() has run in this worker, for any request whatsoever
 * @returns why nothing, or not all, is learnt of the upstream's nodes, or undefined when all is well
 */
export function missingLog(
  logs: LogWatch,
  name: string,
  picks: number,
  log_ran: boolean,
  now_ms: number,
): string | undefined {
  const never = !log_ran && picks >= PICKS_WITHOUT_LOG;
  if (!never && !missesSome(logs, now_ms)) return undefined;
  return (
    `log() has not run for ${logs.seen ? "some" : "any"} of ${picks} requests to upstream "${name}": ` +
    'add log_by_lua_block { require("resty.ax").log() } at http level, and to every server or location that has a ' +
    "log_by_lua of its own; for subrequests also log_subrequest on"
  );
}
