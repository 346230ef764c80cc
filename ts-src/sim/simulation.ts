import type { Random } from "../resty/ax/core/random";
import type { RequestRecord } from "../resty/ax/dataplane/requests";
import type { NodeCache } from "./cache";
import type { EventHeap, Line } from "./events";
import type { Job, NodeSpec } from "./job";
import type { Timeline } from "./timeline";

/** What became of a try, as the sender sees it. */
export const enum Ending {
  Ok = 0,
  /** Answered with a 500. */
  Error = 1,
  /** Refused or reset. */
  Refused = 2,
  TimedOut = 3,
}

/** Kinds of events in the heap. */
export const enum Kind {
  /** A try's work at its node is over (subject: Try). */
  Done = 0,
  /** A callback (subject: Timer). */
  Timer = 1,
}

/** One request, from its arrival at a gateway to its answer. */
export interface SimRequest {
  id: number;
  /** Who sends it in a closed loop; -1 in an open one. */
  client: number;
  born_ms: number;
  /** Work at speed 1, ms; with a cache, when it hits. */
  demand_ms: number;
  /** Number of its class in the job; -1 = none. */
  class_at: number;
  /** For so long after its first byte the answer goes on, in no slot. */
  stream_ms: number;
  key: number;
  /** The client's, 4 bytes. */
  address: string;
  /** When the first byte of the answer came; -1 = not yet. */
  answered_ms: number;
  /** The last try found its key in the node's cache. */
  was_hit: boolean;
  /** Why the gateway refused it; "" = it did not. */
  refused: string;
  /** The router's: which of its workers has it. */
  worker: unknown;
  record: RequestRecord | undefined;
  /** Tries so far. */
  tries: Try[];
}

/** One request at one node. */
export interface Try {
  request: SimRequest;
  node: number;
  sent_ms: number;
  ending: Ending;
  /** The sender has its answer, or has given up. */
  over: boolean;
  /** When the answer came, ms. */
  over_ms: number;
  /** It will be worked on, and fail in the end. */
  fails: boolean;
  /** It has a slot of the node. */
  in_slot: boolean;
}

/** A node: slots, and a line behind them. */
export interface SimNode {
  number: number;
  spec: NodeSpec;
  timeline: Timeline;
  busy: number;
  /** Tries sent and not yet answered, over all gateways; an answer that goes on is no work any more. */
  in_flight: number;
  /** Its own, or the one that all nodes share (bound "shared_queue"). */
  waiting: Line<Try>;
  cache: NodeCache | undefined;
}

/** Runs when its time has come. */
export interface Timer {
  fire(this: void, sim: Simulation): void;
}

/** Decides where requests go. */
export interface Router {
  /** A request has arrived. */
  begin(this: void, sim: Simulation, request: SimRequest): void;
  /** A try is over: answer the request, or try again. */
  tryOver(this: void, sim: Simulation, attempt: Try): void;
  /** The weights that one worker goes by, by node; empty when there are none. */
  weights(this: void): number[];
}

/** Tells of requests that have been answered. */
export interface Observer {
  sent(this: void, attempt: Try): void;
  ended(this: void, request: SimRequest, ok: boolean, now_ms: number): void;
}

export interface Simulation {
  job: Job;
  now_ms: number;
  heap: EventHeap<Try | Timer>;
  /** On the way to a node; constant delay. */
  outbound: Line<Try>;
  /** On the way back. */
  inbound: Line<Try>;
  /** Every try, in the order of its time-out. */
  deadlines: Line<Try>;
  nodes: SimNode[];
  /** Draws errors at the nodes. */
  fate: Random;
  /** Draws when nodes look at their timers. */
  timers: Random;
  shared_queue: boolean;
  router: Router;
  observer: Observer;
}
