local ____exports = {}
local opt = require("jit.opt")
--- LuaJIT's own limits end a trace after 4000 instructions: too few for a pick with the calls into nginx around it, of
-- which half then runs in the interpreter (docs/performance.md). These are the defaults of OpenResty's branch of LuaJIT.
local LIMITS = {"maxtrace=8000", "maxrecord=16000", "maxmcode=40960"}
--- A module that OpenResty's branch has, and LuaJIT itself has not.
local OPENRESTY_MODULE = "table.nkeys"
--- Lets LuaJIT compile as long traces as OpenResty's branch does by default. They hold for all Lua of this nginx; there
-- they are not touched. `init_by_lua` phase: workers inherit them.
-- 
-- @returns whether they were set
function ____exports.raiseJitLimits()
    local is_openresty = pcall(require, OPENRESTY_MODULE)
    if is_openresty then
        return false
    end
    local ok = pcall(
        opt.start,
        unpack(LIMITS)
    )
    return ok
end
return ____exports
