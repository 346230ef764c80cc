local ____exports = {}
local ____wire = require("resty.ax.core.wire")
local SLOTS_MAX = ____wire.SLOTS_MAX
--- `held:` values are version × this + slots held: a reader sees that something happened in between.
____exports.HELD_SPAN = 4194304
--- Versions begin again: values stay below 2^53.
____exports.VERSIONS = 1073741824
function ____exports.totalKey(upstream, node)
    return (("slots:" .. upstream) .. ":") .. node
end
function ____exports.heldKey(upstream, node, holder)
    return (((("held:" .. upstream) .. ":") .. node) .. ":") .. tostring(holder)
end
---
-- @returns the slots held, of the value of a `held:` key
function ____exports.heldOf(value)
    return type(value) == "number" and value % ____exports.HELD_SPAN or 0
end
--- Claims a number of its own for a worker; only `add` claims, and only the collector gives a number free, when
-- the process has ended. So no two live workers have the same.
-- 
-- @param identity of the process: `pid:start time`
-- @returns 1 .. SLOTS_MAX; 0 when the store is full or so many workers live
function ____exports.claimHolder(store, identity)
    do
        local i = 1
        while i <= SLOTS_MAX do
            if store.add(
                "holder:" .. tostring(i),
                identity
            ) then
                return i
            end
            i = i + 1
        end
    end
    return 0
end
---
-- @returns the most that may be in flight: the limit, and how far it may be exceeded
function ____exports.hardLimit(limit, overflow_ratio)
    return math.floor(limit * (1 + overflow_ratio) + 0.000001)
end
return ____exports
