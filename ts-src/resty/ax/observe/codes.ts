/**
 * What can go wrong at run time, each under a stable code: counted, shown by the status API, logged
 * at most once a minute per worker. docs/troubleshooting.md explains each; a spec compares the two.
 */
export const FAULT_CODES = [
  // The balancer phase threw: nginx's own round robin served the request.
  "balancer",
  // nginx refused the peer: nginx's own round robin served the request.
  "set_peer",
  // balancer("x") names an upstream that is not configured: nginx's own round robin serves it.
  "unknown_upstream",
  // init_worker() has not run in this worker: nginx's own round robin serves everything.
  "not_initialised",
  // The strategy module threw or answered nonsense: the cheapest node was picked instead.
  "strategy",
  // The function given as hash_key threw or answered nonsense: the request went by the client's address.
  "hash_key",
  // The function given as class_source threw or answered nonsense: the request had no class.
  "class_source",
  // The log phase threw: the request was served, its outcome not counted.
  "log_phase",
  // log() never runs for an upstream: nothing is learnt of its nodes.
  "log_missing",
  // The access phase threw: the request went on.
  "access_phase",
  // The flush timer threw: counters are sent with the next flush.
  "flush",
  // The collector threw: weights stay as they are.
  "collector",
  // A check of a node broke, or nginx gave no timer for checks: the others go on.
  "probe",
  // The shared dict is full: workers go on with what they have.
  "store_full",
  // The shared dict held something unreadable: it was thrown away.
  "store_corrupt",
  // The API threw: the request for it got 500.
  "api",
] as const;

export type FaultCode = (typeof FAULT_CODES)[number];
