/** What scenarios promise, and whether it holds in a run. */
import type { Row } from "./results";
import { FIRST_CLASS } from "./two_classes";

export interface Target {
  text: string;
  value: number;
  limit: number;
  ok: boolean;
}

const atMost = (text: string, value: number, limit: number): Target => ({ text, value, limit, ok: value <= limit });
const atLeast = (text: string, value: number, limit: number): Target => ({ text, value, limit, ok: value >= limit });

function overheadTargets(rows: Row[]): Target[] {
  const row = rows.find(({ contender }) => contender === "ax adaptive");
  if (row === undefined || rows[0].contender !== "nginx round robin") return [];
  return [
    atLeast("throughput, adaptive ÷ nginx round robin", row.rps_ratio, 0.9),
    atMost("gateway CPU per request, adaptive ÷ nginx round robin", row.cpu_ratio, 1.15),
  ];
}

function slowNodeTargets(rows: Row[]): Target[] {
  const adaptive = rows.find(({ contender }) => contender === "ax adaptive");
  const absent = rows.find(({ contender }) => contender === "ax adaptive, slow node absent");
  const peers = rows.filter(({ by }) => by !== "ax");
  const targets: Target[] = [];
  if (adaptive?.closed === undefined) return targets;
  if (absent?.closed !== undefined) {
    const ratio = adaptive.closed.p99_ms / absent.closed.p99_ms;
    targets.push(atMost("P99, adaptive ÷ adaptive without the slow node", ratio, 1.3));
  }
  if (peers.length > 0) {
    const best_ms = Math.min(...peers.map((row) => row.closed!.p99_ms));
    const best_rps = Math.max(...peers.map((row) => row.closed!.rps));
    targets.push(atMost("P99, adaptive ÷ best of the others", adaptive.closed.p99_ms / best_ms, 0.5));
    targets.push(atLeast("throughput, adaptive ÷ best of the others", adaptive.closed.rps / best_rps, 1));
  }
  return targets;
}

/** Goodput as docs/admission.md promises it, and the first class no worse off than with the best known queue. */
function overloadTargets(rows: Row[]): Target[] {
  const own = rows.find(({ contender }) => contender === "ax adaptive")?.overload;
  const haproxy = rows.find(({ by }) => by === "haproxy")?.overload;
  if (own === undefined) return [];
  const targets = [atLeast("goodput, adaptive ÷ what the nodes can do", own.goodput, 0.97)];
  if (haproxy !== undefined) {
    const ratio = own.classes[FIRST_CLASS].p99_ms / haproxy.classes[FIRST_CLASS].p99_ms;
    targets.push(atMost("P99 of the first class, adaptive ÷ HAProxy", ratio, 1));
  }
  return targets;
}

/** @returns the targets of the scenario that the rows have figures for */
export function targetsOf(scenario: string, rows: Row[]): Target[] {
  if (rows.length === 0) return [];
  if (scenario.startsWith("overhead")) return overheadTargets(rows);
  if (scenario.startsWith("slow_node")) return slowNodeTargets(rows);
  return scenario === "overload" ? overloadTargets(rows) : [];
}
