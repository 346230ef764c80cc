local math_huge = math.huge
local tonumber = tonumber
-- Lua Library inline imports
local function __TS__StringCharCodeAt(self, index)
    if index ~= index then
        index = 0
    end
    if index < 0 then
        return 0 / 0
    end
    return string.byte(self, index + 1) or 0 / 0
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
-- End of Lua Library inline imports
local ____exports = {}
--- 2xx: what "healthy" means where nobody says otherwise.
____exports.DEFAULT_EXPECTED = {from = 200, to = 299}
--- A whole code 100..599 at the start of what is left; undefined = none.
local function parseCode(text)
    if #text ~= 3 then
        return nil
    end
    do
        local i = 0
        while i < 3 do
            local code = __TS__StringCharCodeAt(text, i)
            if code < 48 or code > 57 then
                return nil
            end
            i = i + 1
        end
    end
    local value = __TS__Number(text)
    return value >= 100 and value <= 599 and value or nil
end
---
-- @param given an entry of `expected_status`: 200, "204" or "200-299"
-- @returns the range; undefined when it is none
function ____exports.parseStatusRange(given)
    if type(given) ~= "string" and type(given) ~= "number" then
        return nil
    end
    local text = tostring(given)
    local dash = (string.find(text, "-", nil, true) or 0) - 1
    local from = parseCode(dash < 0 and text or __TS__StringSubstring(text, 0, dash))
    local ____temp_0
    if dash < 0 then
        ____temp_0 = from
    else
        ____temp_0 = parseCode(__TS__StringSubstring(text, dash + 1))
    end
    local to = ____temp_0
    if from == nil or to == nil or from > to then
        return nil
    end
    return {from = from, to = to}
end
---
-- @returns the ranges of a valid `expected_status`
function ____exports.expectedRanges(given)
    local ranges = {}
    do
        local i = 0
        while given ~= nil and i < #given do
            local range = ____exports.parseStatusRange(given[i + 1])
            if range ~= nil then
                ranges[#ranges + 1] = range
            end
            i = i + 1
        end
    end
    if #ranges == 0 then
        ranges[1] = ____exports.DEFAULT_EXPECTED
    end
    return ranges
end
--- "200-299, 304"
function ____exports.rangesText(ranges)
    local text = ""
    do
        local i = 0
        while i < #ranges do
            local ____ranges_index_1 = ranges[i + 1]
            local from = ____ranges_index_1.from
            local to = ____ranges_index_1.to
            text = text .. (i > 0 and ", " or "") .. (from == to and tostring(from) or (tostring(from) .. "-") .. tostring(to))
            i = i + 1
        end
    end
    return text
end
function ____exports.isExpected(status, ranges)
    do
        local i = 0
        while i < #ranges do
            if status >= ranges[i + 1].from and status <= ranges[i + 1].to then
                return true
            end
            i = i + 1
        end
    end
    return false
end
return ____exports
