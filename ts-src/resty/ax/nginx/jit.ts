import * as opt from "jit.opt";

/**
 * LuaJIT's own limits end a trace after 4000 instructions: too few for a pick with the calls into nginx around it, of
 * which half then runs in the interpreter (docs/performance.md). These are the defaults of OpenResty's branch of LuaJIT.
 */
const LIMITS = ["maxtrace=8000", "maxrecord=16000", "maxmcode=40960"];

/** A module that OpenResty's branch has, and LuaJIT itself has not. */
const OPENRESTY_MODULE = "table.nkeys";

/**
 * Lets LuaJIT compile as long traces as OpenResty's branch does by default. They hold for all Lua of this nginx; there
 * they are not touched. `init_by_lua` phase: workers inherit them.
 *
 * @returns whether they were set
 */
export function raiseJitLimits(): boolean {
  const [is_openresty] = pcall(require, OPENRESTY_MODULE);
  if (is_openresty) return false;
  const [ok] = pcall(opt.start, ...LIMITS);
  return ok;
}
