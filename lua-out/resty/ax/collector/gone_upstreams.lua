local math_min = math.min
-- Lua Library inline imports
local function __TS__ArraySome(self, callbackfn, thisArg)
    for i = 1, #self do
        if callbackfn(thisArg, self[i], i - 1, self) then
            return true
        end
    end
    return false
end

local function __TS__CountVarargs(...)
    return select("#", ...)
end

local function __TS__ArraySplice(self, ...)
    local args = {...}
    local len = #self
    local actualArgumentCount = __TS__CountVarargs(...)
    local start = args[1]
    local deleteCount = args[2]
    if start < 0 then
        start = len + start
        if start < 0 then
            start = 0
        end
    elseif start > len then
        start = len
    end
    local itemCount = actualArgumentCount - 2
    if itemCount < 0 then
        itemCount = 0
    end
    local actualDeleteCount
    if actualArgumentCount == 0 then
        actualDeleteCount = 0
    elseif actualArgumentCount == 1 then
        actualDeleteCount = len - start
    else
        actualDeleteCount = deleteCount or 0
        if actualDeleteCount < 0 then
            actualDeleteCount = 0
        end
        if actualDeleteCount > len - start then
            actualDeleteCount = len - start
        end
    end
    local out = {}
    for k = 1, actualDeleteCount do
        local from = start + k
        if self[from] ~= nil then
            out[k] = self[from]
        end
    end
    if itemCount < actualDeleteCount then
        for k = start + 1, len - actualDeleteCount do
            local from = k + actualDeleteCount
            local to = k + itemCount
            if self[from] then
                self[to] = self[from]
            else
                self[to] = nil
            end
        end
        for k = len - actualDeleteCount + itemCount + 1, len do
            self[k] = nil
        end
    elseif itemCount > actualDeleteCount then
        for k = len - actualDeleteCount, start + 1, -1 do
            local from = k + actualDeleteCount
            local to = k + itemCount
            if self[from] then
                self[to] = self[from]
            else
                self[to] = nil
            end
        end
    end
    local j = start + 1
    for i = 3, actualArgumentCount do
        self[j] = args[i]
        j = j + 1
    end
    for k = #self, len - actualDeleteCount + itemCount + 1, -1 do
        self[k] = nil
    end
    return out
end
-- End of Lua Library inline imports
local ____exports = {}
local ____events = require("resty.ax.core.health.events")
local eventKey = ____events.eventKey
local EVENTS_MAX = ____events.EVENTS_MAX
local eventsKey = ____events.eventsKey
local transitionsKey = ____events.transitionsKey
local ____operator = require("resty.ax.core.operator")
local willKey = ____operator.willKey
local willVersionKey = ____operator.willVersionKey
local ____reject = require("resty.ax.core.reject")
local REJECT_REASONS = ____reject.REJECT_REASONS
local ____slots = require("resty.ax.core.slots")
local freedKey = ____slots.freedKey
local heldKey = ____slots.heldKey
local totalKey = ____slots.totalKey
local ____tallies = require("resty.ax.core.tallies")
local TALLIES = ____tallies.TALLIES
local tallyKey = ____tallies.tallyKey
local ____values = require("resty.ax.core.values")
local asNumber = ____values.asNumber
local asRecord = ____values.asRecord
local ____wire = require("resty.ax.core.wire")
local backlogKey = ____wire.backlogKey
local drainKey = ____wire.drainKey
local limitsKey = ____wire.limitsKey
local ____worker_keys = require("resty.ax.core.worker_keys")
local lineKey = ____worker_keys.lineKey
local ____gone = require("resty.ax.collector.gone")
local FORGET_AFTER_MS = ____gone.FORGET_AFTER_MS
local goneKey = ____gone.goneKey
local isHeld = ____gone.isHeld
local LIST_KEY = "upstreams"
local function readRecord(deps, key)
    local text = deps.store.get(key)
    local ____temp_0
    if text == nil then
        ____temp_0 = nil
    else
        ____temp_0 = asRecord(deps.decode(tostring(text)))
    end
    return ____temp_0
end
local function writeList(deps, configured, gone)
    local list = {}
    for name in pairs(configured) do
        list[name] = 0
    end
    do
        local i = 0
        while i < #gone do
            list[gone[i + 1].name] = gone[i + 1].since_ms
            i = i + 1
        end
    end
    local text = deps.encode(list)
    if text ~= nil then
        deps.store.set(LIST_KEY, text)
    end
end
local function nodesOf(deps, name)
    local ids = {""}
    local ____asRecord_3 = asRecord
    local ____opt_1 = readRecord(deps, "detail:" .. name)
    for id in pairs(____asRecord_3(____opt_1 and ____opt_1.nodes) or ({})) do
        ids[#ids + 1] = id
    end
    for id in pairs(readRecord(
        deps,
        goneKey(name)
    ) or ({})) do
        ids[#ids + 1] = id
    end
    return ids
end
--- Finds out which upstreams have gone, and notes those that are there. When a collector begins.
-- 
-- @param configured upstreams by name
-- @param now_ms monotonic ms
function ____exports.findGoneUpstreams(deps, configured, now_ms)
    local gone = {}
    local before = readRecord(deps, LIST_KEY) or ({})
    for name in pairs(before) do
        local since_ms = asNumber(before[name])
        if since_ms ~= nil and configured[name] == nil then
            gone[#gone + 1] = {
                name = name,
                since_ms = since_ms > 0 and math_min(since_ms, now_ms) or now_ms,
                ids = nodesOf(deps, name)
            }
        end
    end
    writeList(deps, configured, gone)
    return gone
end
local function removeCounts(deps, name)
    local store = deps.store
    do
        local k = 0
        while k < #TALLIES do
            store.remove(tallyKey(name, TALLIES[k + 1]))
            k = k + 1
        end
    end
    do
        local k = 0
        while k < #REJECT_REASONS do
            store.remove((("refused:" .. REJECT_REASONS[k + 1]) .. ":") .. name)
            k = k + 1
        end
    end
    local others = {"keyless:" .. name, "classes:unknown:" .. name, "classes:capped:" .. name}
    do
        local k = 0
        while k < #others do
            store.remove(others[k + 1])
            k = k + 1
        end
    end
end
local function removeAll(deps, ____bindingPattern0, holders)
    local ids
    local name
    name = ____bindingPattern0.name
    ids = ____bindingPattern0.ids
    local store = deps.store
    do
        local i = 0
        while i < #ids do
            store.remove(totalKey(name, ids[i + 1]))
            store.remove(willKey(name, ids[i + 1]))
            do
                local k = 0
                while k < #holders do
                    store.remove(heldKey(name, ids[i + 1], holders[k + 1]))
                    k = k + 1
                end
            end
            i = i + 1
        end
    end
    do
        local seq = 0
        while seq < EVENTS_MAX do
            store.remove(eventKey(name, seq))
            seq = seq + 1
        end
    end
    local published = {
        "snapshot:" .. name,
        "detail:" .. name,
        "windows:" .. name,
        eventsKey(name),
        transitionsKey(name)
    }
    do
        local k = 0
        while k < #published do
            store.remove(published[k + 1])
            k = k + 1
        end
    end
    local others = {
        goneKey(name),
        freedKey(name),
        limitsKey(name),
        drainKey(name),
        backlogKey(name),
        lineKey(name, 0)
    }
    do
        local k = 0
        while k < #others do
            store.remove(others[k + 1])
            k = k + 1
        end
    end
    store.remove(willVersionKey(name))
    removeCounts(deps, name)
end
--- Removes what is left of one upstream, if there is one that is due and no worker has requests there any more. Writes the
-- list again when somebody has removed it.
-- 
-- @param gone what `findGoneUpstreams` gave; it is taken out there
-- @param configured upstreams by name
-- @param holders numbers of the live workers; dead ones' keys are gone already
function ____exports.clearGoneUpstream(deps, gone, configured, holders, now_ms)
    if deps.store.get(LIST_KEY) == nil then
        writeList(deps, configured, gone)
    end
    do
        local i = 0
        while i < #gone do
            local ____gone_index_4 = gone[i + 1]
            local name = ____gone_index_4.name
            local ids = ____gone_index_4.ids
            local since_ms = ____gone_index_4.since_ms
            if now_ms - since_ms >= FORGET_AFTER_MS and not __TS__ArraySome(
                ids,
                function(____, id) return isHeld(deps, name, id, holders) end
            ) then
                removeAll(deps, gone[i + 1], holders)
                __TS__ArraySplice(gone, i, 1)
                writeList(deps, configured, gone)
                return
            end
            i = i + 1
        end
    end
end
return ____exports
