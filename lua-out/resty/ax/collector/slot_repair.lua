local math_max = math.max
local math_min = math.min
local ____exports = {}
local ____slots = require("resty.ax.core.slots")
local freedKey = ____slots.freedKey
local heldKey = ____slots.heldKey
local heldOf = ____slots.heldOf
local holderOf = ____slots.holderOf
local releaseHolder = ____slots.releaseHolder
local totalKey = ____slots.totalKey
local ____wire = require("resty.ax.core.wire")
local SLOTS_MAX = ____wire.SLOTS_MAX
--- Limits looked at per tick when no worker has died: a few hundred microseconds.
local PER_TICK = 200
--- Ticks for which all limits are looked at after a death, or when the store was emptied: one sees the difference, one confirms it.
local TICKS_AFTER_DEATH = 4
function ____exports.newSlotRepair(store, holderAlive)
    return {
        store = store,
        holderAlive = holderAlive,
        upstreams = {},
        names = {},
        suspected = {},
        holders = {},
        cursor = 0,
        total = 0,
        urgent_ticks = TICKS_AFTER_DEATH,
        returned_total = 0
    }
end
---
-- @param ids of its nodes
-- @param gone of nodes that have left the configuration: workers that are shutting down may still have requests there
function ____exports.addUpstream(repair, name, ids, gone)
    local names = {""}
    do
        local k = 0
        while k < #ids do
            names[#names + 1] = ids[k + 1]
            k = k + 1
        end
    end
    do
        local k = 0
        while k < #gone do
            names[#names + 1] = gone[k + 1]
            k = k + 1
        end
    end
    local ____repair_upstreams_0 = repair.upstreams
    ____repair_upstreams_0[#____repair_upstreams_0 + 1] = name
    local ____repair_names_1 = repair.names
    ____repair_names_1[#____repair_names_1 + 1] = names
    repair.total = repair.total + #names
end
--- A dead worker's own keys go first, its number last: whoever gets the number must not find them.
local function forget(repair, holder)
    do
        local u = 0
        while u < #repair.upstreams do
            local names = repair.names[u + 1]
            do
                local k = 0
                while k < #names do
                    repair.store.remove(heldKey(repair.upstreams[u + 1], names[k + 1], holder))
                    k = k + 1
                end
            end
            u = u + 1
        end
    end
    releaseHolder(repair.store, holder)
    repair.urgent_ticks = TICKS_AFTER_DEATH
end
--- Looks which workers live. All numbers: any gap among them may be larger, after a reload of many workers.
local function readHolders(repair)
    local holders = {}
    do
        local i = 1
        while i <= SLOTS_MAX do
            local identity = holderOf(repair.store, i)
            if identity ~= nil then
                if repair.holderAlive(identity) then
                    holders[#holders + 1] = i
                else
                    forget(repair, i)
                end
            end
            i = i + 1
        end
    end
    repair.holders = holders
end
--- Written by the collector; absent = somebody has emptied the store: every count is wrong then.
local MARK_KEY = "slots:counted"
local function noticeEmptied(repair)
    if repair.store.get(MARK_KEY) == nil and repair.store.set(MARK_KEY, 1) then
        repair.urgent_ticks = TICKS_AFTER_DEATH
    end
end
---
-- @returns count − sum, of one instant; undefined when something moved meanwhile
local function difference(repair, upstream, name)
    local store = repair.store
    local holders = repair.holders
    local before = {}
    local sum = 0
    do
        local k = 0
        while k < #holders do
            local value = store.get(heldKey(upstream, name, holders[k + 1])) or ""
            before[k + 1] = value
            sum = sum + heldOf(value)
            k = k + 1
        end
    end
    local total = store.get(totalKey(upstream, name))
    do
        local k = 0
        while k < #holders do
            if (store.get(heldKey(upstream, name, holders[k + 1])) or "") ~= before[k + 1] then
                return nil
            end
            k = k + 1
        end
    end
    return (type(total) == "number" and total or 0) - sum
end
local function repairOne(repair, upstream, name)
    local key = totalKey(upstream, name)
    local total = repair.store.get(key)
    if total == nil then
        return
    end
    local found = difference(repair, upstream, name)
    if found == nil then
        return
    end
    local before = repair.suspected[key] or 0
    local ____repair_suspected_3 = repair.suspected
    local ____temp_2
    if found == 0 then
        ____temp_2 = nil
    else
        ____temp_2 = found
    end
    ____repair_suspected_3[key] = ____temp_2
    local certain = before * found > 0 and (found > 0 and math_min(before, found) or math_max(before, found)) or 0
    if certain == 0 then
        return
    end
    repair.store.incr(key, -certain)
    repair.suspected[key] = nil
    if certain <= 0 then
        return
    end
    repair.returned_total = repair.returned_total + certain
    repair.store.incr(
        freedKey(upstream),
        1
    )
end
--- One round. After a death all limits are looked at, else some of them in turn.
-- 
-- @param breathe called after each limit looked at
function ____exports.repairSlots(repair, breathe)
    if repair.total == 0 then
        return
    end
    readHolders(repair)
    noticeEmptied(repair)
    local left = math_min(repair.total, PER_TICK)
    if repair.urgent_ticks > 0 then
        repair.urgent_ticks = repair.urgent_ticks - 1
        left = repair.total
    end
    local u = 0
    local at = repair.cursor % repair.total
    while at >= #repair.names[u + 1] do
        at = at - #repair.names[u + 1]
        u = u + 1
    end
    do
        while left > 0 do
            repairOne(repair, repair.upstreams[u + 1], repair.names[u + 1][at + 1])
            breathe()
            repair.cursor = (repair.cursor + 1) % repair.total
            at = at + 1
            if at >= #repair.names[u + 1] then
                at = 0
                u = (u + 1) % #repair.upstreams
            end
            left = left - 1
        end
    end
end
return ____exports
