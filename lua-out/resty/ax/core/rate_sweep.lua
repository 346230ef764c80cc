local math_ceil = math.ceil
local math_floor = math.floor
local math_huge = math.huge
local math_max = math.max
local math_min = math.min
local tonumber = tonumber
-- Lua Library inline imports
local __TS__StringSplit
do
    local sub = string.sub
    local find = string.find
    function __TS__StringSplit(source, separator, limit)
        if limit == nil then
            limit = 4294967295
        end
        if limit == 0 then
            return {}
        end
        local result = {}
        local resultIndex = 1
        if separator == nil or separator == "" then
            for i = 1, #source do
                result[resultIndex] = sub(source, i, i)
                resultIndex = resultIndex + 1
            end
        else
            local currentPos = 1
            while resultIndex <= limit do
                local startPos, endPos = find(source, separator, currentPos, true)
                if not startPos then
                    break
                end
                result[resultIndex] = sub(source, currentPos, startPos - 1)
                resultIndex = resultIndex + 1
                currentPos = endPos + 1
            end
            if resultIndex <= limit then
                result[resultIndex] = sub(source, currentPos)
            end
        end
        return result
    end
end

local function __TS__Number(value)
    local valueType = type(value)
    if valueType == "number" then
        return value
    elseif valueType == "string" then
        local numberValue = tonumber(value)
        if numberValue then
            return numberValue
        end
        if value == "Infinity" then
            return math_huge
        end
        if value == "-Infinity" then
            return -math_huge
        end
        local stringWithoutSpaces = string.gsub(value, "%s", "")
        if stringWithoutSpaces == "" then
            return 0
        end
        return 0 / 0
    elseif valueType == "boolean" then
        return value and 1 or 0
    else
        return 0 / 0
    end
end

local function __TS__ArrayIncludes(self, searchElement, fromIndex)
    if fromIndex == nil then
        fromIndex = 0
    end
    local len = #self
    local k = fromIndex
    if fromIndex < 0 then
        k = len + fromIndex
    end
    if k < 0 then
        k = 0
    end
    for i = k + 1, len do
        if self[i] == searchElement then
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
local ____values = require("resty.ax.core.values")
local asNumber = ____values.asNumber
--- Counts are kept for so long after their tokens are lost, ms: for a worker that was stopped meanwhile.
local KEEP_MS = 5000
--- Slots in a burst at most (rate_limit.ts: fewer than ten), and the one that is going on.
local LIVES_MOST = 10
--- Slots swept at a time: ten times what comes in a flush. What is more waits for the next flush.
local SWEPT_AT_ONCE = 2000
--- Workers of the configuration before may count on for so long, ms: their last requests.
local OLD_FOR_MS = 60000
local function listKey(name)
    return "rate:" .. name
end
local function sweptKey(sweep)
    return sweep.prefix .. "swept"
end
local function lengthsIn(store, name)
    return __TS__StringSplit(
        tostring(store.get(listKey(name)) or ""),
        " "
    )
end
local function keptSlots(slot_ms)
    return LIVES_MOST + math_ceil(KEEP_MS / slot_ms)
end
local function newSweep(name, length, slot_ms, now_ms, until_ms)
    local swept = math_max(
        0,
        math_floor(now_ms / slot_ms) - keptSlots(slot_ms)
    )
    return {
        length = length,
        slot_ms = slot_ms,
        prefix = ((("rate:" .. name) .. ":") .. length) .. ":",
        swept = swept,
        until_ms = until_ms
    }
end
---
-- @param slot_ms length of the slots in use
-- @param now_ms monotonic ms
function ____exports.newSweeps(store, name, slot_ms, now_ms)
    local own = newSweep(
        name,
        tostring(slot_ms),
        slot_ms,
        now_ms,
        math_huge
    )
    local list = {own}
    local lengths = lengthsIn(store, name)
    do
        local i = 0
        while i < #lengths do
            local old_ms = __TS__Number(lengths[i + 1])
            if lengths[i + 1] ~= own.length and lengths[i + 1] ~= "" and old_ms > 0 and old_ms < math_huge then
                list[#list + 1] = newSweep(
                    name,
                    lengths[i + 1],
                    old_ms,
                    now_ms,
                    now_ms + OLD_FOR_MS
                )
            end
            i = i + 1
        end
    end
    return {store = store, name = name, list = list}
end
--- Notes that counts of this length may be there; or that none are any more.
local function note(sweeps, length, is_used)
    local lengths = lengthsIn(sweeps.store, sweeps.name)
    if __TS__ArrayIncludes(lengths, length) == is_used then
        return
    end
    local text = is_used and length or ""
    do
        local i = 0
        while i < #lengths do
            if lengths[i + 1] ~= length and lengths[i + 1] ~= "" then
                text = text == "" and lengths[i + 1] or (text .. " ") .. lengths[i + 1]
            end
            i = i + 1
        end
    end
    sweeps.store.set(
        listKey(sweeps.name),
        text
    )
end
--- One worker's sweeping is enough: the others go on from where it is.
-- 
-- @returns whether all are removed that there will ever be
local function sweepOne(store, sweep, now_ms)
    local last = math_floor(sweep.until_ms / sweep.slot_ms) + 1
    local ____until = math_min(
        last,
        math_floor(now_ms / sweep.slot_ms) - keptSlots(sweep.slot_ms)
    )
    sweep.swept = asNumber(store.get(sweptKey(sweep))) or sweep.swept
    local ____end = math_min(____until, sweep.swept + SWEPT_AT_ONCE)
    if sweep.swept < ____end then
        do
            while sweep.swept < ____end do
                store.remove(sweep.prefix .. tostring(sweep.swept))
                sweep.swept = sweep.swept + 1
            end
        end
        store.set(
            sweptKey(sweep),
            sweep.swept
        )
    end
    return sweep.swept >= last
end
--- Removes what is due, the counts of earlier configurations included. Flush.
function ____exports.sweepKeys(sweeps, now_ms)
    local ____sweeps_0 = sweeps
    local store = ____sweeps_0.store
    local list = ____sweeps_0.list
    note(sweeps, list[1].length, true)
    do
        local i = #list - 1
        while i >= 0 do
            if sweepOne(store, list[i + 1], now_ms) then
                store.remove(sweptKey(list[i + 1]))
                note(sweeps, list[i + 1].length, false)
                __TS__ArraySplice(list, i, 1)
            end
            i = i - 1
        end
    end
end
return ____exports
