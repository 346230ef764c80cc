local math_floor = math.floor
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
function ____exports.freedKey(upstream)
    return "freed:" .. upstream
end
local function holderKey(holder)
    return "holder:" .. tostring(holder)
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
            local key = holderKey(i)
            if store.add(key, identity) then
                return i
            end
            if store.get(key) == nil then
                if store.add(key, identity) then
                    return i
                end
                if store.get(key) == nil then
                    return 0
                end
            end
            i = i + 1
        end
    end
    return 0
end
---
-- @returns the identity of the process that has claimed the number
function ____exports.holderOf(store, holder)
    local identity = store.get(holderKey(holder))
    local ____temp_0
    if identity == nil then
        ____temp_0 = nil
    else
        ____temp_0 = tostring(identity)
    end
    return ____temp_0
end
--- The number may be claimed again; the collector only, when everything under it has been removed.
function ____exports.releaseHolder(store, holder)
    store.remove(holderKey(holder))
end
--- Sees to it that a live worker's number stays its own: without the key the collector takes the worker for dead. The
-- key is claimed again when the store was emptied, or the collector took the worker for dead. Every flush; one read.
-- 
-- @param holder its number; 0 = none yet
-- @param identity of the process, as at the first claim
-- @returns its number from now on: another one when somebody else has got the old one meanwhile; 0 = still none
function ____exports.keepHolder(store, holder, identity)
    if holder == 0 then
        return ____exports.claimHolder(store, identity)
    end
    local key = holderKey(holder)
    if ____exports.holderOf(store, holder) == identity or store.add(key, identity) then
        return holder
    end
    if store.get(key) == nil then
        return holder
    end
    local claimed = ____exports.claimHolder(store, identity)
    return claimed > 0 and claimed or holder
end
---
-- @returns the most that may be in flight: the limit, and how far it may be exceeded
function ____exports.hardLimit(limit, overflow_ratio)
    return math_floor(limit * (1 + overflow_ratio) + 0.000001)
end
return ____exports
