import { weighAll } from "../core/cost";
import { refreshPlacement } from "./candidates";
import { releaseHolds } from "./holds";
import { setLongAside } from "./in_flight";
import type { Upstream } from "./upstream";

/** Brings up to date what follows from the time, and from what the other workers and the collector have published. Flush. */
export function refresh(upstream: Upstream, now_ms: number): void {
  releaseHolds(upstream, now_ms);
  setLongAside(upstream, now_ms);
  weighAll(upstream.pool);
  refreshPlacement(upstream);
}
