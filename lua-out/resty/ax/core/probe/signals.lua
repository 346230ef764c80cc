local math_huge = math.huge
local tonumber = tonumber
-- Lua Library inline imports
local function __TS__StringCharAt(self, pos)
    if pos ~= pos then
        pos = 0
    end
    if pos < 0 then
        return ""
    end
    return string.sub(self, pos + 1, pos + 1)
end

local function __TS__StringIncludes(self, searchString, position)
    if not position then
        position = 1
    else
        position = position + 1
    end
    local index = string.find(self, searchString, position, true)
    return index ~= nil
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

local function __TS__NumberIsNaN(value)
    return value ~= value
end

local function __TS__StringTrim(self)
    local result = string.gsub(self, "^[%s ﻿]*(.-)[%s ﻿]*$", "%1")
    return result
end

local function __TS__StringEndsWith(self, searchString, endPosition)
    if endPosition == nil or endPosition > #self then
        endPosition = #self
    end
    return string.sub(self, endPosition - #searchString + 1, endPosition) == searchString
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
local ____orca = require("resty.ax.core.orca")
local parseLoadReport = ____orca.parseLoadReport
--- Asks for them; a node that does not know the header ignores it.
____exports.PROBE_HEADER = "X-AX-Probe"
____exports.PROBE_ASKS_FOR = "watermark, queue-depth"
---
-- @returns a number from 0 up; undefined when the text is none
local function parsePositive(text)
    if text == "" or #text > 20 then
        return nil
    end
    do
        local i = 0
        while i < #text do
            if not __TS__StringIncludes(
                "0123456789.",
                __TS__StringCharAt(text, i)
            ) then
                return nil
            end
            i = i + 1
        end
    end
    local value = __TS__Number(text)
    local ____Number_isNaN_result_0
    if __TS__NumberIsNaN(value) then
        ____Number_isNaN_result_0 = nil
    else
        ____Number_isNaN_result_0 = value
    end
    return ____Number_isNaN_result_0
end
---
-- @param text "0.42" or "42%". Over 1 without a sign is taken for percent, except that up to 2 it may be a share over
-- the mark ("1.2").
-- @returns a share; undefined when the text is no such number
function ____exports.parseWatermark(text)
    local trimmed = __TS__StringTrim(text)
    local is_percent = __TS__StringEndsWith(trimmed, "%")
    local value = parsePositive(is_percent and __TS__StringTrim(__TS__StringSubstring(trimmed, 0, #trimmed - 1)) or trimmed)
    if value == nil then
        return nil
    end
    return (is_percent or value > 2) and value / 100 or value
end
local function named(report, name)
    if report == nil then
        return nil
    end
    local metric = report["named_metrics." .. name]
    local value = metric or report["utilization." .. name]
    return value ~= nil and value >= 0 and value or nil
end
---
-- @param headers by lower-case name
-- @param decode reads JSON
function ____exports.readSignals(headers, decode)
    local orca = headers["endpoint-load-metrics"]
    local orca_json = headers["endpoint-load-metrics-json"]
    local report
    if orca ~= nil then
        report = parseLoadReport(orca, decode)
    elseif orca_json ~= nil then
        report = parseLoadReport("JSON " .. orca_json, decode)
    end
    local watermark = ____exports.parseWatermark(headers["x-ax-watermark"] or "")
    local queue_depth = parsePositive(__TS__StringTrim(headers["x-ax-queue-depth"] or ""))
    return {
        watermark = watermark or named(report, "watermark"),
        queue_depth = queue_depth or named(report, "queue_depth"),
        signals = report
    }
end
return ____exports
