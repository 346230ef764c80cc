import { parseClassSource } from "../core/classes";
import type { ClassReader } from "../core/priority";

function address(): string | undefined {
  const bytes = ngx.var["binary_remote_addr"];
  return bytes;
}

/**
 * What reads the classes of an upstream's requests, made once per worker; it runs in the access and balancer
 * phases. A header is read through its variable: ngx.req.get_headers() builds a table for each request.
 * @param source the option `class_source`, valid; undefined = none
 */
export function newClassReader(source: string | ((this: void) => unknown) | undefined): ClassReader | undefined {
  if (source === undefined) return undefined;
  if (typeof source === "function") return { value: source, is_function: true, address };
  const parsed = parseClassSource(source);
  const name = parsed?.variable;
  if (name === undefined) return { value: () => parsed?.constant, is_function: false, address };
  return {
    value: () => {
      // Not returned directly: LuaJIT does not compile a tail call of a built-in function.
      const text = ngx.var[name];
      return text;
    },
    is_function: false,
    address,
  };
}
