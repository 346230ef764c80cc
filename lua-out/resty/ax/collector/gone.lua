local math_min = math.min
-- Lua Library inline imports
local function __TS__ArraySort(self, compareFn)
    if compareFn ~= nil then
        table.sort(
            self,
            function(a, b) return compareFn(nil, a, b) < 0 end
        )
    else
        table.sort(self)
    end
    return self
end
-- End of Lua Library inline imports
local ____exports = {}
local ____operator = require("resty.ax.core.operator")
local willKey = ____operator.willKey
local ____slots = require("resty.ax.core.slots")
local heldKey = ____slots.heldKey
local heldOf = ____slots.heldOf
local totalKey = ____slots.totalKey
local ____values = require("resty.ax.core.values")
local asNumber = ____values.asNumber
local asRecord = ____values.asRecord
local ____wire = require("resty.ax.core.wire")
local trialKey = ____wire.trialKey
--- So long a node may be away and still be known, ms. Longer than a rollback takes, shorter than addresses are kept unused.
____exports.FORGET_AFTER_MS = 3600000
--- More are forgotten earlier: the list is written as a whole.
local GONE_MAX = 2000
--- Nodes looked at per tick: ten times two reads for each worker, some 0.1 ms.
local PER_TICK = 10
function ____exports.goneKey(upstream)
    return "gone:" .. upstream
end
local function write(deps, gone)
    local key = ____exports.goneKey(gone.upstream)
    local ____temp_0
    if #gone.ids > 0 then
        ____temp_0 = deps.encode(gone.since_ms)
    else
        ____temp_0 = nil
    end
    local text = ____temp_0
    if text == nil then
        deps.store.remove(key)
    else
        deps.store.set(key, text)
    end
end
--- Finds out which nodes have gone since the collector before this one, and which it knew of.
-- 
-- @param configured the upstream's nodes by identity
-- @param details of the nodes that the collector before this one had, by identity; undefined = not known
-- @param now_ms monotonic ms
function ____exports.findGone(deps, upstream, configured, details, now_ms)
    local gone = {upstream = upstream, ids = {}, since_ms = {}, cursor = 0}
    local text = deps.store.get(____exports.goneKey(upstream))
    local ____temp_1
    if text == nil then
        ____temp_1 = nil
    else
        ____temp_1 = asRecord(deps.decode(tostring(text)))
    end
    local before = ____temp_1
    for id in pairs(before or ({})) do
        local since_ms = asNumber(before and before[id])
        if since_ms ~= nil and configured[id] == nil then
            gone.since_ms[id] = math_min(since_ms, now_ms)
        end
    end
    for id in pairs(details or ({})) do
        if configured[id] == nil and gone.since_ms[id] == nil then
            gone.since_ms[id] = now_ms
            local ____asNumber_8 = asNumber
            local ____opt_4 = asRecord(details and details[id])
            local trial = ____asNumber_8(____opt_4 and ____opt_4.trial)
            if trial ~= nil then
                deps.store.remove(trialKey(upstream, id, trial))
            end
        end
    end
    for id in pairs(gone.since_ms) do
        local ____gone_ids_9 = gone.ids
        ____gone_ids_9[#____gone_ids_9 + 1] = id
    end
    __TS__ArraySort(
        gone.ids,
        function(____, a, b) return a < b and -1 or (a > b and 1 or 0) end
    )
    if text ~= nil or #gone.ids > 0 then
        write(deps, gone)
    end
    return gone
end
--- A worker that is shutting down may have requests there for hours.
function ____exports.isHeld(deps, upstream, id, holders)
    do
        local k = 0
        while k < #holders do
            if heldOf(deps.store.get(heldKey(upstream, id, holders[k + 1]))) > 0 then
                return true
            end
            k = k + 1
        end
    end
    return false
end
---
-- @returns whether nothing is left of the node, and nothing more will come
local function clear(deps, gone, id, holders, now_ms)
    if ____exports.isHeld(deps, gone.upstream, id, holders) then
        return false
    end
    deps.store.remove(totalKey(gone.upstream, id))
    do
        local k = 0
        while k < #holders do
            deps.store.remove(heldKey(gone.upstream, id, holders[k + 1]))
            k = k + 1
        end
    end
    local away_ms = now_ms - (gone.since_ms[id] or 0)
    if away_ms < ____exports.FORGET_AFTER_MS and #gone.ids <= GONE_MAX then
        return false
    end
    deps.store.remove(willKey(gone.upstream, id))
    return true
end
--- Removes what is left of some of the nodes, in turn.
-- 
-- @param holders numbers of the live workers (core/slots.ts); dead ones' keys are gone already
-- @param now_ms monotonic ms
function ____exports.clearGone(deps, gone, holders, now_ms)
    local ____gone_10 = gone
    local ids = ____gone_10.ids
    local look = math_min(PER_TICK, #ids)
    local forgotten = false
    do
        local k = 0
        while k < look do
            if gone.cursor >= #ids then
                gone.cursor = 0
            end
            local id = ids[gone.cursor + 1]
            if clear(
                deps,
                gone,
                id,
                holders,
                now_ms
            ) then
                gone.since_ms[id] = nil
                local last = table.remove(ids)
                if last ~= id then
                    ids[gone.cursor + 1] = last
                end
                forgotten = true
            else
                gone.cursor = gone.cursor + 1
            end
            k = k + 1
        end
    end
    if forgotten then
        write(deps, gone)
    end
end
return ____exports
