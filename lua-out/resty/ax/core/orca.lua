local math_huge = math.huge
local math_max = math.max
local math_min = math.min
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

local function __TS__StringTrim(self)
    local result = string.gsub(self, "^[%s ﻿]*(.-)[%s ﻿]*$", "%1")
    return result
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

local function __TS__StringStartsWith(self, searchString, position)
    if position == nil or position < 0 then
        position = 0
    end
    return string.sub(self, position + 1, #searchString + position) == searchString
end
-- End of Lua Library inline imports
local ____exports = {}
local ____orca_bin = require("resty.ax.core.orca_bin")
local readBin = ____orca_bin.readBin
--- The single figures of the report. Names beside them are left out.
local FIELDS = {
    "cpu_utilization",
    "mem_utilization",
    "application_utilization",
    "rps_fractional",
    "rps",
    "eps"
}
--- The maps of the report.
local MAPS = {"named_metrics", "utilization", "request_cost"}
--- A report goes into shared memory for every node: what is beyond is left out.
____exports.MAX_FIGURES = 32
____exports.MAX_FIGURE_NAME = 64
local MAX_HEADER_BYTES = 8192
local function isFigure(value)
    return type(value) == "number" and value > -math_huge and value < math_huge
end
--- Printable ASCII without quotes and backslashes: goes into JSON, metrics and pages as it is.
local function isPlain(name)
    do
        local i = 0
        while i < #name do
            local code = __TS__StringCharCodeAt(name, i)
            if code <= 32 or code >= 127 or code == 34 or code == 92 then
                return false
            end
            i = i + 1
        end
    end
    return name ~= "" and #name <= ____exports.MAX_FIGURE_NAME
end
local function isKnown(name)
    if __TS__ArrayIncludes(FIELDS, name) then
        return true
    end
    local dot = (string.find(name, ".", nil, true) or 0) - 1
    return dot > 0 and dot < #name - 1 and __TS__ArrayIncludes(
        MAPS,
        __TS__StringSubstring(name, 0, dot)
    )
end
local function put(report, count, name, value)
    if count >= ____exports.MAX_FIGURES or not isFigure(value) or not isPlain(name) or not isKnown(name) then
        return count
    end
    if report[name] ~= nil then
        return count
    end
    report[name] = value
    return count + 1
end
--- A decimal number; JavaScript's and Lua's own readers take more than each other ("0x1p4", " 1 ").
local function parseNumber(text)
    if text == "" or #text > 32 then
        return nil
    end
    do
        local i = 0
        while i < #text do
            if not __TS__StringIncludes(
                "0123456789+-.eE",
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
--- The first of two signs in a text; -1 = neither.
local function firstOf(text, a, b)
    local at = (string.find(text, a, nil, true) or 0) - 1
    local other = (string.find(text, b, nil, true) or 0) - 1
    if at < 0 or other < 0 then
        return math_max(at, other)
    end
    return math_min(at, other)
end
local function parseText(text)
    local report = {}
    local entries = __TS__StringSplit(text, ",")
    local count = 0
    do
        local i = 0
        while i < #entries do
            local entry = __TS__StringTrim(entries[i + 1])
            local sign = firstOf(entry, "=", ":")
            if sign > 0 then
                count = put(
                    report,
                    count,
                    __TS__StringTrim(__TS__StringSubstring(entry, 0, sign)),
                    parseNumber(__TS__StringTrim(__TS__StringSubstring(entry, sign + 1)))
                )
            end
            i = i + 1
        end
    end
    return report
end
--- Names sorted: which ones are left out of too many must not depend on the order of a table.
local function names(____table)
    local found = {}
    for key in pairs(____table) do
        if type(key) == "string" then
            found[#found + 1] = key
        end
    end
    __TS__ArraySort(found)
    return found
end
local function fromJson(value)
    local report = {}
    if type(value) ~= "table" or value == nil then
        return report
    end
    local ____table = value
    local keys = names(____table)
    local count = 0
    do
        local i = 0
        while i < #keys do
            local field = ____table[keys[i + 1]]
            if not __TS__ArrayIncludes(MAPS, keys[i + 1]) then
                count = put(report, count, keys[i + 1], field)
            elseif type(field) == "table" and field ~= nil then
                local entries = field
                local inner = names(entries)
                do
                    local k = 0
                    while k < #inner do
                        count = put(report, count, (keys[i + 1] .. ".") .. inner[k + 1], entries[inner[k + 1]])
                        k = k + 1
                    end
                end
            end
            i = i + 1
        end
    end
    return report
end
local function fromBin(text)
    local report = {}
    local figures = readBin(text)
    if figures == nil then
        return report
    end
    local count = 0
    do
        local i = 0
        while i < #figures.names do
            count = put(report, count, figures.names[i + 1], figures.values[i + 1])
            i = i + 1
        end
    end
    return report
end
local function isEmpty(report)
    for name in pairs(report) do
        if name ~= "" then
            return false
        end
    end
    return true
end
--- Reads the header `endpoint-load-metrics`.
-- 
-- @param header as received; several lines joined by commas
-- @param decode reads JSON
-- @returns the figures; undefined when there is none in it
function ____exports.parseLoadReport(header, decode)
    if #header > MAX_HEADER_BYTES then
        return nil
    end
    local text = __TS__StringTrim(header)
    local format = string.upper(__TS__StringSubstring(text, 0, 5))
    local report
    if format == "JSON " then
        report = fromJson(decode(__TS__StringTrim(__TS__StringSubstring(text, 5))))
    elseif format == "TEXT " then
        report = parseText(__TS__StringSubstring(text, 5))
    elseif __TS__StringStartsWith(format, "BIN ") then
        report = fromBin(__TS__StringTrim(__TS__StringSubstring(text, 4)))
    else
        report = parseText(text)
    end
    local ____isEmpty_result_1
    if isEmpty(report) then
        ____isEmpty_result_1 = nil
    else
        ____isEmpty_result_1 = report
    end
    return ____isEmpty_result_1
end
return ____exports
