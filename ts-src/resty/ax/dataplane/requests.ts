/**
 * Requests this worker is serving, by the address of nginx's request structure: it stays the same
 * over retries, internal redirects and error_page, which clear ngx.ctx. Written by the balancer and
 * log phases; an entry lives from the first pick to the log phase. Records are reused, so that a
 * request allocates nothing once the worker has warmed up.
 */
import { fraction } from "../core/fraction";
import { Role } from "../core/classes";
import { DEFAULT_PRIORITY } from "../core/priority";
import type { Waiter } from "./line";
import type { Upstream } from "./upstream";

export interface RequestRecord {
  /** Address of the request; 0 while the record is free. */
  key: number;
  /** Upstream and node of the try in flight; node -1 = no try in flight. */
  upstream: Upstream | undefined;
  node: number;
  /** Start of the try in flight, monotonic ms. */
  start_ms: number;
  /** Where the request has its slots (slots.ts); -1 = it has none. */
  slot_upstream: Upstream | undefined;
  slot_node: number;
  /** Counted in the pool's `long_in_flight`. */
  is_long: boolean;
  /** Start of its first try in this visit to an upstream, monotonic ms. */
  first_ms: number;
  /** When the request began (nginx's start time): tells a new request from an old one at the same address. */
  born: number;
  /** A subrequest: its log phase runs only with log_subrequest on. */
  subrequest: boolean;
  /** Of a subrequest: the main request it belongs to, and its position in the table's list; else "" and -1. */
  family: string;
  subrequest_at: number;
  /** What its class stands for, and its priority in the queue, 1..5; read for `class_of`. */
  role: Role;
  priority: number;
  class_of: Upstream | undefined;
  /** The try "in flight" is a place kept by access(): nothing has been sent to the node yet. */
  reserved: boolean;
  /** While `reserved`: the place is the trial of a half-open node. */
  on_trial: boolean;
  /** The number of that trial; 0 = none was taken: in panic half-open nodes are used without. */
  trial: number;
  /** The request waits, or has waited, in the admission queue. */
  waiter: Waiter | undefined;
  /** Neighbours in the node's list of requests in flight, oldest first. */
  prev: RequestRecord | undefined;
  next: RequestRecord | undefined;
  /** Hash of the request's key, 0 .. 2^32-1, once read (request_key.ts), and the upstream it is for. */
  hash_key: number;
  key_of: Upstream | undefined;
  /** What was read; to be hashed while `key_unhashed`. */
  key_text: string;
  key_address: string;
  key_port: string;
  key_unhashed: boolean;
  /** All tries of the request so far, in order; the first `tries` entries are valid. */
  tries: number;
  /** Tries of earlier visits to an upstream: error_page and other internal redirects begin a new one. */
  earlier_tries: number;
  /** Tries that nothing is held against: an answer led to a redirect. Their nodes may be picked again. */
  settled_tries: number;
  try_upstream: Upstream[];
  try_node: number[];
  /** The live measurements have learnt of this try already (at the retry that followed it). */
  try_learnt: boolean[];
}

export interface RequestTable {
  by_key: Record<number, RequestRecord | undefined>;
  free: RequestRecord[];
  free_count: number;
  /** Requests now in the table. */
  live: number;
  /** Those of them that are subrequests, in no order. */
  subrequests: RequestRecord[];
  subrequest_count: number;
}

/** Free records kept at most: a burst must not hold its memory for ever. */
const FREE_MAX = 4096;

/** Tries remembered at most; later ones overwrite the last: nginx has been seen past 100 tries. */
export const TRIES_MAX = 64;

export function newRequestTable(): RequestTable {
  return { by_key: {}, free: [], free_count: 0, live: 0, subrequests: [], subrequest_count: 0 };
}

/** A record with no request: the head of a node's list, or a fresh one to use. */
export function newRequestRecord(): RequestRecord {
  return {
    key: 0,
    born: 0,
    upstream: undefined,
    node: -1,
    start_ms: fraction(0),
    slot_upstream: undefined,
    slot_node: -1,
    is_long: false,
    first_ms: 0,
    subrequest: false,
    family: "",
    subrequest_at: -1,
    role: Role.Normal,
    priority: DEFAULT_PRIORITY,
    class_of: undefined,
    reserved: false,
    on_trial: false,
    trial: 0,
    waiter: undefined,
    prev: undefined,
    next: undefined,
    hash_key: 0,
    key_of: undefined,
    key_text: "",
    key_address: "",
    key_port: "",
    key_unhashed: false,
    tries: 0,
    earlier_tries: 0,
    settled_tries: 0,
    try_upstream: [],
    try_node: [],
    try_learnt: [],
  };
}

/** Takes a record for a request that has none yet. */
export function openRequest(table: RequestTable, key: number, born: number, subrequest: boolean): RequestRecord {
  let record: RequestRecord;
  if (table.free_count > 0) {
    table.free_count--;
    record = table.free[table.free_count];
  } else {
    record = newRequestRecord();
  }
  record.key = key;
  record.born = born;
  record.subrequest = subrequest;
  record.role = Role.Normal;
  record.priority = DEFAULT_PRIORITY;
  record.class_of = undefined;
  record.key_of = undefined;
  record.tries = 0;
  record.earlier_tries = 0;
  record.settled_tries = 0;
  record.node = -1;
  record.slot_node = -1;
  table.by_key[key] = record;
  table.live++;
  return record;
}

/** Tells a record that it is of a subrequest, so that `familyOver` finds it. */
export function joinFamily(table: RequestTable, record: RequestRecord, family: string): void {
  record.family = family;
  record.subrequest_at = table.subrequest_count;
  table.subrequests[table.subrequest_count] = record;
  table.subrequest_count++;
}

function leaveFamily(table: RequestTable, record: RequestRecord): void {
  const at = record.subrequest_at;
  table.subrequest_count--;
  const last = table.subrequests[table.subrequest_count];
  table.subrequests[at] = last;
  last.subrequest_at = at;
  table.subrequests.pop();
  record.family = "";
  record.subrequest_at = -1;
}

/** Gives the record back. The try in flight must have been ended. */
export function closeRequest(table: RequestTable, record: RequestRecord): void {
  table.by_key[record.key] = undefined;
  table.live--;
  record.key = 0;
  record.upstream = undefined;
  if (record.subrequest_at >= 0) leaveFamily(table, record);
  if (table.free_count < FREE_MAX) {
    table.free[table.free_count] = record;
    table.free_count++;
  }
}

/** Remembers that the request goes to a node now. */
export function addTry(record: RequestRecord, upstream: Upstream, node: number): void {
  const at = record.tries < TRIES_MAX ? record.tries : TRIES_MAX - 1;
  record.try_upstream[at] = upstream;
  record.try_node[at] = node;
  record.try_learnt[at] = false;
  record.tries = at + 1;
}

/**
 * An internal redirect (error_page, X-Accel-Redirect) begins a new visit to an upstream: class and key are read anew.
 * @param answered the last try got an answer: nothing is held against the nodes tried so far
 */
export function beginVisit(record: RequestRecord, answered: boolean): void {
  if (answered) record.settled_tries = record.tries;
  record.earlier_tries = record.tries;
  record.class_of = undefined;
  record.key_of = undefined;
}

/** Whether the request was already sent to this node, in vain. */
export function wasTried(record: RequestRecord, upstream: Upstream, node: number): boolean {
  const tries = record.tries;
  for (let k = record.settled_tries; k < tries; k++) {
    if (record.try_node[k] === node && record.try_upstream[k] === upstream) return true;
  }
  return false;
}
