local pcall = pcall
local ____exports = {}
local opt = require("jit.opt")
--- LuaJIT's own limits end a trace after 4000 instructions or 500 constants: too few for a pick with the calls into nginx
-- around it, of which half then runs in the interpreter (docs/performance.md). OpenResty's branch of LuaJIT has the first
-- three by default; the number of constants is the one that APISIX sets for its gateways.
local BRANCH_LIMITS = {"maxtrace=8000", "maxrecord=16000", "maxmcode=40960"}
local CONSTANTS_LIMIT = "maxirconst=1000"
--- A module that OpenResty's branch has, and LuaJIT itself has not.
local OPENRESTY_MODULE = "table.nkeys"
--- Lets LuaJIT compile traces of the length that the balancer phase has. It holds for all Lua of this nginx. `init_by_lua`
-- phase: workers inherit it.
function ____exports.raiseJitLimits()
    pcall(opt.start, CONSTANTS_LIMIT)
    local is_openresty = pcall(require, OPENRESTY_MODULE)
    if not is_openresty then
        pcall(
            opt.start,
            unpack(BRANCH_LIMITS)
        )
    end
end
return ____exports
