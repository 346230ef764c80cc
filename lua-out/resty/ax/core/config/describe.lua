-- Lua Library inline imports
local function __TS__StringEndsWith(self, searchString, endPosition)
    if endPosition == nil or endPosition > #self then
        endPosition = #self
    end
    return string.sub(self, endPosition - #searchString + 1, endPosition) == searchString
end

local function __TS__StringStartsWith(self, searchString, position)
    if position == nil or position < 0 then
        position = 0
    end
    return string.sub(self, position + 1, #searchString + position) == searchString
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
-- End of Lua Library inline imports
local ____exports = {}
local ____show = require("resty.ax.core.config.show")
local quote = ____show.quote
local showNumber = ____show.showNumber
---
-- @returns the unit a field's name ends in: "s", "ms", or ""
function ____exports.unitOf(key)
    if __TS__StringEndsWith(key, "_ms") then
        return "ms"
    end
    return __TS__StringEndsWith(key, "_s") and "s" or ""
end
---
-- @param key the field's name: its end is the unit
-- @returns for instance "1..60 s", or "0 or 1..60 s"
function ____exports.rangeText(field, key)
    local unit = ____exports.unitOf(key)
    local zero = field.or_zero == true and "0 or " or ""
    return (((zero .. showNumber(field.min)) .. "..") .. showNumber(field.max)) .. (unit == "" and "" or " " .. unit)
end
---
-- @returns the texts in quotes, separated by commas
function ____exports.quotedList(texts)
    local list = ""
    do
        local i = 0
        while i < #texts do
            list = list .. (i > 0 and ", " or "") .. quote(texts[i + 1])
            i = i + 1
        end
    end
    return list
end
---
-- @returns what the field takes, to be read before "is needed"
function ____exports.needText(field, key)
    if field.expected ~= nil then
        return field.expected
    end
    if field.kind == "number" then
        return (("a " .. (field.integer == true and "whole " or "")) .. "number ") .. ____exports.rangeText(field, key)
    end
    if field.kind == "boolean" then
        return "true or false"
    end
    if field.kind == "enum" then
        return "one of " .. ____exports.quotedList(field.values)
    end
    if field.kind == "string" then
        return "a string"
    end
    if field.kind == "list" then
        return "a list"
    end
    if field.kind == "any" then
        return "a value"
    end
    return "a map"
end
local function isDigit(code)
    return code >= 48 and code <= 57
end
--- Reads a plain decimal number at the start of a text.
-- 
-- @returns its length, 0 when there is none
local function numberLength(text)
    local digits = 0
    local points = 0
    local i = __TS__StringStartsWith(text, "-") and 1 or 0
    while i < #text do
        local code = __TS__StringCharCodeAt(text, i)
        if isDigit(code) then
            digits = digits + 1
        elseif code == 46 and points == 0 then
            points = points + 1
        else
            break
        end
        i = i + 1
    end
    return digits > 0 and i or 0
end
--- Longest text taken for a number with a unit behind it, like "500ms".
local MAX_NUMBER_TEXT = 20
--- Strings are never taken for numbers or booleans; this tells how to write what was probably meant.
-- 
-- @returns for instance " (write 5 without quotes)", or ""
function ____exports.quotingHint(field, key, value)
    if type(value) ~= "string" or #value > MAX_NUMBER_TEXT then
        return ""
    end
    if field.kind == "boolean" and (value == "true" or value == "false") then
        return (" (write " .. value) .. " without quotes)"
    end
    if field.kind ~= "number" then
        return ""
    end
    local length = numberLength(value)
    if length == 0 then
        return ""
    end
    if length == #value then
        return (" (write " .. value) .. " without quotes)"
    end
    local unit = ____exports.unitOf(key)
    do
        local i = length
        while i < #value do
            local code = __TS__StringCharCodeAt(value, i)
            if not (code >= 97 and code <= 122 or code >= 65 and code <= 90) then
                return ""
            end
            i = i + 1
        end
    end
    return unit == "" and "" or (" (write a plain number; the unit is " .. unit) .. ", as the name says)"
end
return ____exports
