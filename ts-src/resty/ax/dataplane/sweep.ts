/**
 * Finds requests whose log phase never came: subrequests without `log_subrequest on`, and upstreams
 * in whose locations log() does not run (a log_by_lua of a location replaces the http level's).
 */
import { endTry } from "./in_flight";
import { missesOften, noteMissed } from "./log_watch";
import { closeRequest, type RequestRecord, type RequestTable } from "./requests";

/** nginx's default proxy_read_timeout: a try without news for longer is over in all likelihood. */
const LOST_AFTER_MS = 60000;

/**
 * A long request is no lost one: WebSockets last for hours, and after a reload all of a worker's requests may be such.
 * So main requests are given up only where log phases are known to be missing.
 */
function isLost(record: RequestRecord, log_ran: boolean, now_ms: number): boolean {
  const upstream = record.upstream;
  if (upstream === undefined || record.waiter !== undefined || now_ms - record.start_ms < LOST_AFTER_MS) return false;
  if (record.subrequest || !log_ran) return true;
  return missesOften(upstream.logs, now_ms);
}

/**
 * Ends the tries of requests that were lost. Timer phase, every few seconds.
 * @param log_ran whether log() has run in this worker, for any request whatsoever
 */
export function sweep(table: RequestTable, log_ran: boolean, now_ms: number): number {
  if (table.live === 0) return 0;
  const lost: RequestRecord[] = [];
  for (const [, record] of pairs(table.by_key)) {
    if (record !== undefined && isLost(record, log_ran, now_ms)) lost.push(record);
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
export function discard(table: RequestTable, record: RequestRecord, now_ms: number): void {
  const upstream = record.upstream;
  if (upstream !== undefined && !record.subrequest) noteMissed(upstream.logs, now_ms);
  endTry(record);
  closeRequest(table, record);
}
