local math_floor = math.floor
local math_huge = math.huge
-- Lua Library inline imports
local function __TS__TypeOf(value)
    local luaType = type(value)
    if luaType == "table" then
        return "object"
    elseif luaType == "nil" then
        return "undefined"
    else
        return luaType
    end
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

local function __TS__StringCharAt(self, pos)
    if pos ~= pos then
        pos = 0
    end
    if pos < 0 then
        return ""
    end
    return string.sub(self, pos + 1, pos + 1)
end

local function __TS__NumberIsNaN(value)
    return value ~= value
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

local function __TS__ArrayIsArray(value)
    return type(value) == "table" and (value[1] ~= nil or next(value) == nil)
end
-- End of Lua Library inline imports
local ____exports = {}
--- Longest string shown whole, in bytes (Lua) or UTF-16 units (JavaScript).
local MAX_SHOWN = 60
--- Keys of a map shown before "and n more".
local MAX_KEYS_SHOWN = 3
local HEX = "0123456789abcdef"
---
-- @returns whether the value is absent: undefined/nil, or JSON null (in Lua a userdata, the NULL pointer)
function ____exports.isAbsent(value)
    if value == nil or value == nil then
        return true
    end
    local ____type = __TS__TypeOf(value)
    return ____type == "userdata" and tostring(value) == "userdata: NULL"
end
---
-- @returns whether the value is a table (Lua), an object or array (JavaScript)
function ____exports.isTable(value)
    return type(value) == "table" and value ~= nil
end
--- Where to cut a long string so that no UTF-8 sequence is split (in Lua, strings are bytes).
local function cutAt(text)
    local ____end = MAX_SHOWN
    while ____end > MAX_SHOWN - 4 do
        local code = __TS__StringCharCodeAt(text, ____end)
        if code < 128 or code > 191 then
            break
        end
        ____end = ____end - 1
    end
    return ____end
end
---
-- @returns the text in double quotes, control characters escaped, cut when long
function ____exports.quote(text)
    local cut = #text > MAX_SHOWN
    local ____end = cut and cutAt(text) or #text
    local shown = ""
    do
        local i = 0
        while i < ____end do
            local code = __TS__StringCharCodeAt(text, i)
            if code == 34 or code == 92 then
                shown = shown .. "\\" .. __TS__StringCharAt(text, i)
            elseif code == 10 then
                shown = shown .. "\\n"
            elseif code < 32 or code == 127 then
                shown = shown .. ("\\x" .. __TS__StringCharAt(
                    HEX,
                    math_floor(code / 16)
                )) .. __TS__StringCharAt(HEX, code % 16)
            else
                shown = shown .. __TS__StringCharAt(text, i)
            end
            i = i + 1
        end
    end
    return cut and ("\"" .. shown) .. "...\"" or ("\"" .. shown) .. "\""
end
---
-- @returns the number as text, special values in words
function ____exports.showNumber(value)
    if __TS__NumberIsNaN(value) then
        return "NaN"
    end
    if value == math_huge then
        return "infinity"
    end
    if value == -math_huge then
        return "-infinity"
    end
    return value == 0 and "0" or tostring(value)
end
---
-- @returns the string keys of a table, sorted: neither language promises an order
function ____exports.sortedKeys(____table)
    local keys = {}
    for key in pairs(____table) do
        if type(key) == "string" then
            keys[#keys + 1] = key
        end
    end
    __TS__ArraySort(keys)
    return keys
end
---
-- @returns what kind of table it is, by its keys
function ____exports.shapeOf(____table)
    local size = 0
    local positions = 0
    local highest = 0
    for key in pairs(____table) do
        size = size + 1
        local raw = key
        if type(raw) == "number" and raw >= 1 and raw == math_floor(raw) then
            positions = positions + 1
            if raw > highest then
                highest = raw
            end
        end
    end
    if size == 0 then
        return {kind = "empty", size = size}
    end
    if positions == 0 then
        if not __TS__ArrayIsArray(____table) then
            return {kind = "map", size = size}
        end
        local length = #____table
        return {kind = "list", size = length}
    end
    if positions < size then
        return {kind = "mixed", size = size}
    end
    return {kind = highest == size and "list" or "holes", size = size}
end
local function showKeys(____table, size)
    local keys = ____exports.sortedKeys(____table)
    local text = ""
    local shown = #keys < MAX_KEYS_SHOWN and #keys or MAX_KEYS_SHOWN
    do
        local i = 0
        while i < shown do
            text = text .. (i > 0 and ", " or "") .. ____exports.quote(keys[i + 1])
            i = i + 1
        end
    end
    if shown == 0 then
        return (tostring(size) .. " ") .. (size == 1 and "key" or "keys")
    end
    local left = size - shown
    return ((("the " .. (size == 1 and "key" or "keys")) .. " ") .. text) .. (left > 0 and (" and " .. tostring(left)) .. " more" or "")
end
local function showTable(____table)
    local shape = ____exports.shapeOf(____table)
    if shape.kind == "empty" then
        return "an empty table"
    end
    if shape.kind == "list" then
        return (("a list of " .. tostring(shape.size)) .. " ") .. (shape.size == 1 and "entry" or "entries")
    end
    if shape.kind == "holes" then
        return ("a list of " .. tostring(shape.size)) .. " with holes in it"
    end
    if shape.kind == "mixed" then
        return ("a mixture of list and map, with " .. showKeys(____table, shape.size)) .. ","
    end
    return "a map with " .. showKeys(____table, shape.size)
end
---
-- @returns the value as messages show it
function ____exports.showValue(value)
    if ____exports.isAbsent(value) then
        return "nothing"
    end
    if type(value) == "string" then
        return ____exports.quote(value)
    end
    if type(value) == "number" then
        return ____exports.showNumber(value)
    end
    if type(value) == "boolean" then
        return value and "true" or "false"
    end
    if ____exports.isTable(value) then
        return showTable(value)
    end
    return "a " .. __TS__TypeOf(value)
end
return ____exports
