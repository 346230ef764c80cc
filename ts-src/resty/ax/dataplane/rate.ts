/** The gateway's limit of requests a second, over all upstreams and workers. */
import type { AxConfig } from "../core/model";
import { newRateLimit, type RateLimit, takeToken } from "../core/rate_limit";
import type { Store } from "../core/store";

/** A burst is a tenth of a second's requests: what comes at once when clients are not in step. */
const BURST_SHARE = 0.1;

/** @returns undefined when none is configured */
export function gatewayLimit(config: AxConfig, store: Store, now_ms: number): RateLimit | undefined {
  const rate = config.global_qps_limit;
  if (rate === undefined) return undefined;
  const burst = config.global_qps_burst ?? Math.max(2, Math.floor(rate * BURST_SHARE));
  return newRateLimit(store, "gateway", rate, burst, now_ms);
}

/** Whether the gateway's rate allows one more request. Once per request, before anything else is decided. Access phase. */
export function allowRequest(rate_limit: RateLimit | undefined, now_ms: number): boolean {
  return rate_limit === undefined || takeToken(rate_limit, now_ms);
}
