local math_floor = math.floor
local math_min = math.min
-- Lua Library inline imports
local function __TS__StringStartsWith(self, searchString, position)
    if position == nil or position < 0 then
        position = 0
    end
    return string.sub(self, position + 1, #searchString + position) == searchString
end

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

local function __TS__StringCharCodeAt(self, index)
    if index ~= index then
        index = 0
    end
    if index < 0 then
        return 0 / 0
    end
    return string.byte(self, index + 1) or 0 / 0
end

local function __TS__StringSubstring(self, start, ____end)
    if ____end ~= ____end then
        ____end = 0
    end
    if ____end ~= nil and start > ____end then
        start, ____end = ____end, start
    end
    if start >= 0 then
        start = start + 1
    else
        start = 1
    end
    if ____end ~= nil and ____end < 0 then
        ____end = 0
    end
    return string.sub(self, start, ____end)
end

local function __TS__StringCharAt(self, pos)
    if pos ~= pos then
        pos = 0
    end
    if pos < 0 then
        return ""
    end
    return string.sub(self, pos + 1, pos + 1)
end
-- End of Lua Library inline imports
local ____exports = {}
local ____load = require("resty.ax.core.load")
local loadOf = ____load.loadOf
--- Class names and what they stand for where none are configured.
____exports.DEFAULT_CLASSES = {vip = "vip", normal = "normal", batch = "batch"}
--- Loads looked at per flush to know what is usual: 64 give the quartile within a few ranks, at any size of pool.
local LOADS_SAMPLED = 64
--- Up to so many candidates, "the least loaded quarter" is of this instant: in a small pool what was usual at the last
-- flush may be what the only busy node has now. Ranks cost a look at every candidate.
local RANKED_MAX = 16
--- A node with fewer requests in flight than this is not busy, whatever the others have.
local BUSY_MIN = 2
--- A node with more than this share of its capacity in flight is busy, whatever the others have.
local BUSY_SHARE = 0.5
--- How nginx's variables begin that hold what the client wrote.
local CLIENT_VARIABLES = {"http_", "arg_", "cookie_"}
local function isFromClient(variable)
    do
        local i = 0
        while i < #CLIENT_VARIABLES do
            if __TS__StringStartsWith(variable, CLIENT_VARIABLES[i + 1]) then
                return true
            end
            i = i + 1
        end
    end
    return false
end
---
-- @returns an empty measurement: nothing in flight is usual
function ____exports.newLoads()
    return {quartile = 0, median = 0, sampled = {}}
end
--- Measures what is usual among the pool's candidates: of many, an evenly spaced sample.
function ____exports.measureLoads(loads, pool)
    local count = pool.candidate_count
    if count == 0 then
        return
    end
    local size = math_min(count, LOADS_SAMPLED)
    local sampled = {}
    do
        local k = 0
        while k < size do
            sampled[k + 1] = loadOf(
                pool,
                pool.static_weight,
                pool.candidates[math_floor(k * count / size) + 1]
            )
            k = k + 1
        end
    end
    __TS__ArraySort(
        sampled,
        function(____, a, b) return a - b end
    )
    loads.sampled = sampled
    loads.quartile = sampled[math_floor((size - 1) / 4) + 1]
    loads.median = sampled[math_floor((size - 1) / 2) + 1]
end
---
-- @returns whether more than a quarter of the candidates have less load than the node, now
local function isAboveQuartile(pool, node)
    local load = loadOf(pool, pool.static_weight, node)
    local less = 0
    do
        local k = 0
        while k < pool.candidate_count do
            if loadOf(pool, pool.static_weight, pool.candidates[k + 1]) < load then
                less = less + 1
            end
            k = k + 1
        end
    end
    return less > (pool.candidate_count - 1) / 4
end
---
-- @returns whether requests of the role keep away from the node; the loads are live, what is usual ≤ a flush old
function ____exports.avoids(role, loads, pool, node)
    if role == 1 then
        if pool.candidate_count <= RANKED_MAX then
            return isAboveQuartile(pool, node)
        end
        return loadOf(pool, pool.static_weight, node) > loads.quartile
    end
    if role ~= 2 then
        return false
    end
    local in_flight = pool.in_flight[node + 1] + pool.others_in_flight[node + 1]
    if in_flight > BUSY_SHARE * pool.capacity[node + 1] then
        return true
    end
    return in_flight >= BUSY_MIN and loadOf(pool, pool.static_weight, node) > loads.median
end
local function isNameCode(code)
    return code >= 48 and code <= 57 or code >= 65 and code <= 90 or code >= 97 and code <= 122 or code == 95
end
local function isPlain(text, dash)
    do
        local i = 0
        while i < #text do
            local code = __TS__StringCharCodeAt(text, i)
            if not isNameCode(code) and not (dash and code == 45) then
                return false
            end
            i = i + 1
        end
    end
    return #text > 0
end
---
-- @param text "$variable", "header:Name", or the name of a class
-- @returns the source, or undefined when the name of the variable or header has characters that none can have
function ____exports.parseClassSource(text)
    if __TS__StringStartsWith(text, "$") then
        local variable = __TS__StringSubstring(text, 1)
        return isPlain(variable, false) and ({
            variable = variable,
            from_client = isFromClient(string.lower(variable))
        }) or nil
    end
    if not __TS__StringStartsWith(text, "header:") then
        return {constant = text, from_client = false}
    end
    local header = __TS__StringSubstring(text, 7)
    if not isPlain(header, true) then
        return nil
    end
    local variable = "http_"
    do
        local i = 0
        while i < #header do
            local char = __TS__StringCharAt(header, i)
            variable = variable .. (char == "-" and "_" or string.lower(char))
            i = i + 1
        end
    end
    return {variable = variable, from_client = true}
end
return ____exports
