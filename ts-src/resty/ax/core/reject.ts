/**
 * Why access() refuses a request: the value of the header X-AX-Reject, of the status API and of the
 * documentation (docs/admission.md), which a spec compares.
 */
export const REJECT_REASONS = [
  // Every node is full, and no queue is configured.
  "overloaded",
  // Every node is full, and so is the queue, or the share of it that the request's class may fill.
  "queue_full",
  // No room within timeout_ms, or within the time that the client will wait.
  "queue_timeout",
  // More requests a second than the gateway takes.
  "qps",
  // Too few nodes are good, and the upstream's `panic` is "fail".
  "panic",
  // A backlog is being worked off: nothing new is taken in.
  "draining",
] as const;

export type RejectReason = (typeof REJECT_REASONS)[number];
