/** The workers that publish their counts, as the API shows them. */
import { asCount, asNumber, asRecord } from "../core/values";
import { WORKER_DEAD_MS, type WorkerRecord } from "../core/wire";
import { lastSlot, workerKey } from "../core/worker_keys";
import { jsonList } from "./document";
import { decodeObject, type StatusDeps } from "./status_deps";

export interface WorkerStatus {
  pid: number;
  age_ms: number;
  exiting: boolean;
  in_flight: number;
}

function total(record: WorkerRecord): number {
  let sum = 0;
  for (const [, nodes] of pairs(asRecord(record.in_flight) ?? {})) {
    for (const [, count] of pairs(asRecord(nodes) ?? {})) sum += asCount(count);
  }
  return sum;
}

/** The live workers, those of an older configuration that still serve requests included. */
export function workerStatus(deps: StatusDeps, now_ms: number): WorkerStatus[] {
  const workers: WorkerStatus[] = [];
  const slots = lastSlot(deps.store);
  for (let slot = 1; slot <= slots; slot++) {
    const record = decodeObject(deps, workerKey(slot)) as WorkerRecord | undefined;
    if (record !== undefined && asNumber(record.pid) !== undefined && asNumber(record.at_ms) !== undefined) {
      const exiting = record.exiting === true;
      const alive = exiting ? deps.processAlive(record.pid) : Math.abs(now_ms - record.at_ms) < WORKER_DEAD_MS;
      if (alive) workers.push({ pid: record.pid, age_ms: now_ms - record.at_ms, exiting, in_flight: total(record) });
    }
  }
  return jsonList(workers);
}
