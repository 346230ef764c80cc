/**
 * The states of a node, and what moves it from one to another: one vocabulary for the shared store, the API, the log and
 * the docs (the tables of docs/health.md are made of the data below).
 *
 * Lives as long as the program; read by everybody, written by nobody.
 */
export type NodeState =
  | "pending"
  | "online"
  | "degraded"
  | "suspect"
  | "ejected"
  | "probing"
  | "ramping"
  | "draining"
  | "offline"
  | "maintenance";

/** What a state means for requests, and what ends it. */
export interface StateFacts {
  /** Gets new requests, by its weight. */
  usable: boolean;
  /** By somebody's decision, not ours: no automatism touches it, and panic does not use it. */
  by_operator: boolean;
  /** What it is, in one sentence. */
  what: string;
  /** What ends it. */
  ends: string;
}

export const STATES: Record<NodeState, StateFacts> = {
  pending: {
    usable: false,
    by_operator: false,
    what: "New to a running gateway; its probes have not passed yet.",
    ends: "the probes pass; without a verdict after `pending_max_s`, as if they had",
  },
  online: {
    usable: true,
    by_operator: false,
    what: "In rotation.",
    ends: "trouble, or the operator",
  },
  degraded: {
    usable: true,
    by_operator: false,
    what: "Answers, but slowly, or asks for less load (429, 503 with Retry-After): in rotation at a lower weight.",
    ends: "its answers are as usual again; the time it asked for is over",
  },
  suspect: {
    usable: true,
    by_operator: false,
    what: "Fails, or does not answer what it has: in rotation at a low weight while it is being judged.",
    ends: "a short window without failures; or ejection",
  },
  ejected: {
    usable: false,
    by_operator: false,
    what: "Out of rotation, cooling down.",
    ends: "the cool-down is over (thrown out by probes: they pass again)",
  },
  probing: {
    usable: false,
    by_operator: false,
    what: "Half-open: one trial at a time: a probe where there are probes; when it passes, one live request over all workers.",
    ends: "the trial passes or fails",
  },
  ramping: {
    usable: true,
    by_operator: false,
    what: "Coming (back): a growing share of its weight, and few requests in flight.",
    ends: "the ramp is over, or trouble",
  },
  draining: {
    usable: false,
    by_operator: true,
    what: "Drained by the operator: no new requests, those in flight finish.",
    ends: "nothing is in flight any more; or the operator",
  },
  offline: {
    usable: false,
    by_operator: true,
    what: "Taken out: `down` in the configuration, drained, or forced down.",
    ends: "the configuration, or the operator",
  },
  maintenance: {
    usable: false,
    by_operator: true,
    what: "Taken out for maintenance by the operator; not probed.",
    ends: "the operator, or the time given",
  },
};

/** Names of releases before this table, as an older snapshot may have them. */
const OLD_NAMES: Record<string, NodeState | undefined> = { up: "online", down: "offline" };

/** @returns the state of that name, an older release's included; undefined when there is none */
export function stateNamed(name: unknown): NodeState | undefined {
  if (typeof name !== "string") return undefined;
  if ((STATES as Record<string, StateFacts | undefined>)[name] !== undefined) return name as NodeState;
  return OLD_NAMES[name];
}

/** @returns whether new requests may go to a node in this state */
export function isUsable(state: NodeState): boolean {
  return STATES[state].usable;
}
