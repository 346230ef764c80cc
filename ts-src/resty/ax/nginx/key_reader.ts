import { parseKeySource } from "../core/config/hash_key";
import type { KeyReader } from "../core/request_key";

/** @param source "$variable", "header:Name", …: valid */
function variableReader(source: string): (this: void) => string | undefined {
  const name = parseKeySource(source).variable ?? "";
  return () => {
    // Not returned directly: LuaJIT does not compile a tail call of a built-in function.
    const value = ngx.var[name];
    return value;
  };
}

function address(): string | undefined {
  const bytes = ngx.var["binary_remote_addr"];
  return bytes;
}

function port(): string | undefined {
  const text = ngx.var["remote_port"];
  return text;
}

/**
 * What reads the keys of an upstream's requests, made once per worker; it runs in the balancer phase.
 * Variables and not ngx.req.get_headers() and the like: those build a table for each request.
 * @param source the option `hash_key`, valid; undefined = none
 */
export function newKeyReader(source: string | ((this: void) => unknown) | undefined): KeyReader {
  if (source === undefined) return { is_function: false, address, port };
  const is_function = typeof source === "function";
  return { value: is_function ? source : variableReader(source), is_function, address, port };
}
