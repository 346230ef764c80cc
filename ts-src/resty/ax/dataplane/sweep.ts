/**
 * Finds requests whose log phase never came: subrequests without `log_subrequest on`, and upstreams
 * in whose locations log() does not run (a log_by_lua of a location replaces the http level's).
 */
import { endTry } from "./in_flight";
import { closeRequest, type RequestRecord, type RequestTable } from "./requests";
import type { Upstream } from "./upstream";

/** nginx's default proxy_read_timeout: a try without news for longer is over in all likelihood. */
const LOST_AFTER_MS = 60000;

/** Picks without one log() call that make its absence certain. */
const PICKS_WITHOUT_LOG = 200;

function isLost(record: RequestRecord, now_ms: number): boolean {
  const upstream = record.upstream;
  if (upstream === undefined || record.waiter !== undefined || now_ms - record.start_ms < LOST_AFTER_MS) return false;
  return record.subrequest || !upstream.log_seen || upstream.logs_missed > 0;
}

/** Ends the tries of requests that were lost. Timer phase, every few seconds. */
export function sweep(table: RequestTable, now_ms: number): number {
  if (table.live === 0) return 0;
  const lost: RequestRecord[] = [];
  for (const [, record] of pairs(table.by_key)) {
    if (record !== undefined && isLost(record, now_ms)) lost.push(record);
  }
  for (const record of lost) {
    endTry(record);
    closeRequest(table, record);
  }
  return lost.length;
}

/**
 * A main request has ended, and with it all its subrequests: nginx runs the log phase of those only with
 * `log_subrequest on`. Log phase.
 */
export function familyOver(table: RequestTable, family: string): void {
  for (let k = table.subrequest_count - 1; k >= 0; k--) {
    const record = table.subrequests[k];
    if (record.family === family) {
      endTry(record);
      closeRequest(table, record);
    }
  }
}

/** The record's request ended long ago, without a log phase: another one is at its address. */
export function discard(table: RequestTable, record: RequestRecord): void {
  if (record.upstream !== undefined && !record.subrequest) record.upstream.logs_missed++;
  endTry(record);
  closeRequest(table, record);
}

/** @returns why nothing, or not all, is learnt of the upstream's nodes, or undefined when all is well */
export function missingLog(upstream: Upstream): string | undefined {
  const never = !upstream.log_seen && upstream.picks_total >= PICKS_WITHOUT_LOG;
  if (!never && upstream.logs_missed === 0) return undefined;
  return (
    `log() has not run for ${never ? "any" : "some"} of ${upstream.picks_total} requests to upstream ` +
    `"${upstream.config.name}": ` +
    'add log_by_lua_block { require("resty.ax").log() } at http level, and to every server or location that has a ' +
    "log_by_lua of its own; for subrequests also log_subrequest on"
  );
}
