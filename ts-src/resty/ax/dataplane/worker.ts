/**
 * The worker's own state, one per process: made by init (configuration) and init_worker (the rest).
 * `undefined` before: balancer and log then stand aside.
 */
import type { Candidate } from "../collector/election";
import type { Collector } from "../collector/collector";
import type { Probes } from "../collector/prober";
import type { AxConfig } from "../core/model";
import type { RateLimit } from "../core/rate_limit";
import type { AnyStrategy } from "../core/strategies/registry";
import type { SharedStore } from "../nginx/shared";
import type { Faults } from "../observe/faults";
import type { Exchange } from "./exchange";
import type { Hall } from "./line";
import type { RequestTable } from "./requests";
import type { Upstream } from "./upstream";

/** What init leaves behind in the master process for every worker to inherit. */
export interface Prepared {
  config: AxConfig;
  store: SharedStore;
  /** Custom strategies by upstream name. */
  custom: Record<string, AnyStrategy | undefined>;
}

export interface Worker {
  config: AxConfig;
  store: SharedStore;
  by_name: Record<string, Upstream | undefined>;
  upstreams: Upstream[];
  requests: RequestTable;
  /** Requests that wait for room. */
  hall: Hall;
  /** This worker's number among those that hold slots (core/slots.ts); 0 = none yet. Its process, for the claim. */
  holder: number;
  identity: string;
  /** The gateway's limit of requests a second; undefined = none. */
  rate_limit: RateLimit | undefined;
  exchange: Exchange;
  candidate: Candidate;
  /** Present while this worker is the collector. */
  collector: Collector | undefined;
  /** The same; absent too when no upstream has probes. */
  probes: Probes | undefined;
  collected_at_ms: number;
  swept_at_ms: number;
  /** log() has run in this worker, for whatever request. Log phase. */
  log_ran: boolean;
  faults: Faults;
  /** Shutting down: no timer runs any more, requests are still served. */
  exiting: boolean;
  /** The log phase has more to do than to account tries: it is exiting, or an upstream reads load reports. */
  log_does_more: boolean;
  /** The last flush since then, monotonic ms: made by requests that wait. */
  left_at_ms: number;
}

/** Boxed, so that the phases see what init and init_worker put in. */
export const process: { prepared: Prepared | undefined; worker: Worker | undefined; faults: Faults | undefined } = {
  prepared: undefined,
  worker: undefined,
  faults: undefined,
};
