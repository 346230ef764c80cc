/**
 * What the status API is told of the doors, each flush.
 *
 * | key | what | lives |
 * |---|---|---|
 * | refused:<reason>:<upstream>        | requests refused, all workers ever     | for ever (one number each) |
 * | classes:unknown:<upstream>, classes:capped:<upstream> | requests whose class was not taken | for ever |
 * | door:<slot>                        | one worker's DoorRecord                | dead with its worker |
 */
import { toSparse } from "../core/histogram";
import { LOWEST_PRIORITY } from "../core/priority";
import type { Store } from "../core/store";
import type { DoorRecord, DoorReport } from "../core/wire";
import { doorKey } from "../core/worker_keys";
import { type Door, turnWaits } from "./door";
import type { Exchange } from "./exchange";
import type { Upstream } from "./upstream";

function sendCount(store: Store, door: Door, key: string, count: number): void {
  const unsent = count - (door.sent[key] ?? 0);
  if (unsent > 0 && store.incr(key, unsent) !== undefined) door.sent[key] = count;
}

function reportOf(door: Door): DoorReport | undefined {
  const line = door.line;
  if (line === undefined) return undefined;
  const report: DoorReport = { waiting: [], admitted: [], waits: [] };
  for (let k = 0; k < LOWEST_PRIORITY; k++) {
    report.waiting[k] = line.queue.counts[k];
    report.admitted[k] = door.waits.admitted[k] + door.waits_before.admitted[k];
    report.waits[2 * k] = toSparse(door.waits.hist[k]);
    report.waits[2 * k + 1] = toSparse(door.waits_before.hist[k]);
  }
  return report;
}

/** Sends counts, and this worker's report. Flush. */
export function publishDoors(exchange: Exchange, upstreams: Upstream[], now_ms: number): void {
  const store = exchange.store;
  let reports: Record<string, DoorReport> | undefined;
  for (const upstream of upstreams) {
    const door = upstream.door;
    const name = upstream.config.name;
    for (const [reason, count] of pairs(door.refused)) sendCount(store, door, `refused:${reason}:${name}`, count ?? 0);
    sendCount(store, door, `classes:unknown:${name}`, door.unknown_classes);
    sendCount(store, door, `classes:capped:${name}`, door.capped_classes);
    turnWaits(door, now_ms);
    const report = reportOf(door);
    if (report !== undefined) {
      reports ??= {};
      reports[name] = report;
    }
  }
  if (reports === undefined || exchange.slot <= 0) return;
  const record: DoorRecord = { pid: exchange.pid, at_ms: now_ms, upstreams: reports };
  const text = exchange.encode(record);
  // Without room the status shows less; nothing else rests on it.
  if (text !== undefined) store.set(doorKey(exchange.slot), text);
}
