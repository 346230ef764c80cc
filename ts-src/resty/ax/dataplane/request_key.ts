/**
 * The key of a request: read once, at its first try, and kept over its retries (an internal redirect begins anew). Reading and hashing
 * are apart because hashing has a loop (see phases/balancer.ts).
 */
import { type KeyReader, keyOf } from "../core/request_key";
import type { FaultReporter } from "./pick";
import type { RequestRecord } from "./requests";
import type { Upstream } from "./upstream";
import { errorText } from "./error_text";

/** What the user's function says; "" = nothing. One that throws or answers nonsense is reported. */
function askFunction(value: (this: void) => unknown, upstream: Upstream, report: FaultReporter): string {
  const [ok, answer] = pcall(value);
  const kind = type(answer);
  if (ok && kind === "string") return answer as string;
  if (ok && kind === "number") return tostring(answer);
  if (ok && kind === "nil") return "";
  const said = ok ? `returned a ${kind}; a string is needed` : errorText(answer);
  report("hash_key", `hash_key of upstream "${upstream.config.name}": ${said}`);
  return "";
}

function textOf(reader: KeyReader, upstream: Upstream, report: FaultReporter): string {
  const value = reader.value;
  if (value === undefined) return "";
  const text = reader.is_function ? askFunction(value, upstream, report) : ((value() as string | undefined) ?? "");
  if (text === "") upstream.keyless_total++;
  return text;
}

/**
 * Reads what the key is made of, unless the request has one for this upstream. A request without a value
 * for `hash_key` is counted, and the client's address is its key. Balancer phase.
 */
export function readKey(upstream: Upstream, record: RequestRecord, report: FaultReporter): void {
  const reader = upstream.keys;
  if (reader === undefined || record.key_of === upstream) return;
  const how = upstream.address_key;
  const text = textOf(reader, upstream, report);
  record.key_of = upstream;
  record.key_text = text;
  if (text === "" || how !== undefined) record.key_address = reader.address() ?? "";
  if (how?.port === true) record.key_port = reader.port() ?? "";
  record.key_unhashed = true;
}

/** @returns the key, 0 .. 2^32-1; hashes what was read last, if that has not been done */
export function requestHash(upstream: Upstream, record: RequestRecord): number {
  if (record.key_unhashed) {
    record.key_unhashed = false;
    record.hash_key = keyOf(record.key_text, record.key_address, record.key_port, upstream.address_key);
  }
  return record.hash_key;
}
