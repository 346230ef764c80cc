import * as opt from "jit.opt";

/**
 * LuaJIT's own limits end a trace after 4000 instructions or 500 constants: too few for a pick with the calls into nginx
 * around it, of which half then runs in the interpreter (docs/performance.md). OpenResty's branch of LuaJIT has the first
 * three by default; the number of constants is the one that APISIX sets for its gateways.
 */
const BRANCH_LIMITS = ["maxtrace=8000", "maxrecord=16000", "maxmcode=40960"];
const CONSTANTS_LIMIT = "maxirconst=1000";

/** A module that OpenResty's branch has, and LuaJIT itself has not. */
const OPENRESTY_MODULE = "table.nkeys";

/**
 * Lets LuaJIT compile traces of the length that the balancer phase has. It holds for all Lua of this nginx. `init_by_lua`
 * phase: workers inherit it.
 */
export function raiseJitLimits(): void {
  pcall(opt.start, CONSTANTS_LIMIT);
  const [is_openresty] = pcall(require, OPENRESTY_MODULE);
  if (!is_openresty) pcall(opt.start, ...BRANCH_LIMITS);
}
