import type { Store } from "../core/store";

/**
 * Which worker is the collector. Shared memory has no compare-and-swap, but `add` (write only if absent)
 * has exactly one winner, so every period of office is a key of its own:
 *
 * | key                  | value         | written by                               | lives                         |
 * |----------------------|---------------|------------------------------------------|-------------------------------|
 * | collector:term       | number n      | the winner of a term, by adding          | for ever                      |
 * | collector:lease:<n>  | "pid:at_ms"   | the holder of term n, every ~250 ms      | removed by the next holder    |
 *
 * The holder of the highest term is the collector while its lease is fresh. When the lease is stale,
 * missing or unreadable, any worker may `add` the lease of the next term; one succeeds. Stamps are
 * monotonic milliseconds, not times to live: a step of the wall clock changes nothing.
 *
 * `collector:term` only says where to look. It is raised by `incr`, so no delayed write can lower it. It
 * lags while a winner has not got to raising it, or died before: readers go on from it through the
 * leases that exist. It runs ahead after a race of two repairs: then the lease it names is missing, and
 * a new term begins. Deleted, it is restored by the holder, and the others remember the term meanwhile;
 * if a worker too young to remember began anew at term 1, the holder sees that and leaves.
 *
 * A worker that wins the lease of a term that is already over (it slept between looking and adding, and
 * the old lease had been removed) sees a term as high as its own and gives the lease back.
 *
 * When the store is full a new term cannot begin: a living holder goes on (its lease is rewritten in
 * place), and after its end there is no collector until there is room.
 */
export interface Candidate {
  store: Store;
  pid: number;
  /** The term this worker holds; 0 = none. */
  held: number;
  /** Highest term seen: what `collector:term` was if somebody deletes it. */
  seen: number;
  processAlive(this: void, pid: number): boolean;
}

/**
 * A lease this old is the next worker's to take. With a look every ~100 ms a successor is there within
 * 2 s; a collector that is merely busy (garbage collection, a slow tick) stays.
 */
const LEASE_STALE_MS = 1500;

/**
 * A holder whose process lives has so long: it may be at a slow first tick (many nodes, a busy machine).
 * Were it deposed, its successor would have to do the same and be deposed too, for ever.
 */
const LEASE_BUSY_MS = 10000;

/** How often the holder rewrites its lease: six times before it would be stale. */
const REFRESH_MS = 250;

/** Leases of earlier terms that a winner removes: the last one, and what crashes may have left behind it. */
const OLD_LEASES = 4;

const TERM = "collector:term";

/**
 * A worker's candidacy. Once per worker process.
 *
 * @param pid this worker's process
 * @param processAlive whether a process exists
 */
export function newCandidate(store: Store, pid: number, processAlive: Candidate["processAlive"]): Candidate {
  return { store, pid, held: 0, seen: 0, processAlive };
}

/**
 * Whether this worker is the collector now. Called by every worker at each flush; the answer is good for
 * this moment, so a worker asks right before each tick. A few reads of the store.
 *
 * @param now_ms monotonic ms
 */
export function isElected(candidate: Candidate, now_ms: number): boolean {
  if (candidate.held > 0) {
    if (stillHolds(candidate, now_ms)) return true;
    // Not at once a candidate again: whoever was elected in the meantime must have the time to show.
    resign(candidate);
    return false;
  }
  const term = currentTerm(candidate);
  if (isFresh(candidate, candidate.store.get(leaseKey(term)), now_ms)) return false;
  return takeTerm(candidate, term + 1, now_ms);
}

/** Gives the office up, so that the next worker that asks has it: this one is exiting. Harmless without it. */
export function resign(candidate: Candidate): void {
  if (candidate.held === 0) return;
  const key = leaseKey(candidate.held);
  if (pidOf(candidate.store.get(key)) === candidate.pid) candidate.store.remove(key);
  candidate.held = 0;
}

function leaseKey(term: number): string {
  return `collector:lease:${term}`;
}

function leaseText(candidate: Candidate, now_ms: number): string {
  return `${candidate.pid}:${Math.floor(now_ms)}`;
}

/** @returns the number before or after the colon of "pid:at_ms"; undefined when there is none */
function part(lease: string | number | undefined, which: "pid" | "at_ms"): number | undefined {
  if (typeof lease !== "string") return undefined;
  const colon = lease.indexOf(":");
  if (colon < 0) return undefined;
  const value = Number(which === "pid" ? lease.substring(0, colon) : lease.substring(colon + 1));
  return Number.isNaN(value) ? undefined : value;
}

function pidOf(lease: string | number | undefined): number | undefined {
  return part(lease, "pid");
}

function ageMs(lease: string | number | undefined, now_ms: number): number {
  const at_ms = part(lease, "at_ms");
  return at_ms === undefined ? Infinity : now_ms - at_ms;
}

/** Stamps of the future are as bad as old ones: they are not from this machine's clock. */
function isFresh(candidate: Candidate, lease: string | number | undefined, now_ms: number): boolean {
  const age_ms = Math.abs(ageMs(lease, now_ms));
  if (age_ms < LEASE_STALE_MS) return true;
  const pid = pidOf(lease);
  return age_ms < LEASE_BUSY_MS && pid !== undefined && candidate.processAlive(pid);
}

function storedTerm(candidate: Candidate): number {
  const term = candidate.store.get(TERM);
  if (typeof term === "number") return term;
  if (term !== undefined) candidate.store.remove(TERM);
  return 0;
}

/** The highest term begun: the stored one, and from there on through the leases that exist. */
function currentTerm(candidate: Candidate): number {
  const stored = storedTerm(candidate);
  let term = stored > 0 ? stored : candidate.seen;
  while (candidate.store.get(leaseKey(term + 1)) !== undefined) term++;
  candidate.seen = term;
  return term;
}

/**
 * A holder whose own lease went stale (it was stopped, or the store refused the refresh) is no longer
 * sure to be the only one: it has to win a new term like everybody else.
 */
function stillHolds(candidate: Candidate, now_ms: number): boolean {
  const { store, held } = candidate;
  const lease = store.get(leaseKey(held));
  if (pidOf(lease) !== candidate.pid || !isFresh(candidate, lease, now_ms)) return false;
  if (ageMs(lease, now_ms) >= REFRESH_MS) {
    store.set(leaseKey(held), leaseText(candidate, now_ms));
  }
  // Somebody deleted the term. Two that restore it at once overshoot, which only begins a new one.
  if (storedTerm(candidate) === 0) store.incr(TERM, held);
  return currentTerm(candidate) === held;
}

function takeTerm(candidate: Candidate, term: number, now_ms: number): boolean {
  const store = candidate.store;
  if (!store.add(leaseKey(term), leaseText(candidate, now_ms))) return false;
  const before = storedTerm(candidate);
  if (before >= term) {
    store.remove(leaseKey(term));
    return false;
  }
  candidate.held = term;
  store.incr(TERM, term - before);
  const stored = storedTerm(candidate);
  for (let old = term - 1; old >= term - OLD_LEASES && old > 0; old--) {
    // Readers come by way of the leases after the stored term: those stay.
    if (old <= stored) store.remove(leaseKey(old));
  }
  if (currentTerm(candidate) === term) return true;
  resign(candidate);
  return false;
}
