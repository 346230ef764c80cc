local ____exports = {}
local FREE_RUN
local ____slots = require("resty.ax.core.slots")
local heldKey = ____slots.heldKey
local heldOf = ____slots.heldOf
local totalKey = ____slots.totalKey
local ____wire = require("resty.ax.core.wire")
local SLOTS_MAX = ____wire.SLOTS_MAX
--- Limits looked at per tick when no worker has died: a few hundred microseconds.
local PER_TICK = 200
--- Ticks for which all limits are looked at after a death: one sees the difference, one confirms it.
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
function ____exports.addUpstream(repair, name, ids)
    local names = {}
    do
        local k = 0
        while k < #ids do
            names[k + 1] = ids[k + 1]
            k = k + 1
        end
    end
    names[#ids + 1] = ""
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
    repair.store.remove("holder:" .. tostring(holder))
    repair.urgent_ticks = TICKS_AFTER_DEATH
end
--- Looks which workers live. Numbers are claimed from 1 up: a run of free ones ends the list.
local function readHolders(repair)
    local holders = {}
    local free = 0
    do
        local i = 1
        while i <= SLOTS_MAX and free < FREE_RUN do
            local identity = repair.store.get("holder:" .. tostring(i))
            if identity == nil then
                free = free + 1
            else
                free = 0
                if repair.holderAlive(tostring(identity)) then
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
--- A gap in the numbers longer than any reload leaves.
FREE_RUN = 64
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
    local certain = before * found > 0 and (found > 0 and math.min(before, found) or math.max(before, found)) or 0
    if certain == 0 then
        return
    end
    repair.store.incr(key, -certain)
    repair.suspected[key] = nil
    if certain > 0 then
        repair.returned_total = repair.returned_total + certain
    end
end
--- One round. After a death all limits are looked at, else some of them in turn.
-- 
-- @param breathe called after each limit looked at
function ____exports.repairSlots(repair, breathe)
    if repair.total == 0 then
        return
    end
    readHolders(repair)
    local left = math.min(repair.total, PER_TICK)
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
