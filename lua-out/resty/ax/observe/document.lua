local math_huge = math.huge
local math_max = math.max
local ____exports = {}
local sortedKeys, escape, followers, secondFits, sequenceAt, validUtf8, stringText, numberText, newLine, writeList, writeObject, write, EMPTY_LIST, RANKS, ESCAPES, REPLACEMENT
function sortedKeys(record)
    local keys = {}
    for key in pairs(record) do
        keys[#keys + 1] = key
    end
    table.sort(
        keys,
        function(a, b)
            local rank_a = RANKS[a] or 0
            local rank_b = RANKS[b] or 0
            local ____temp_0
            if rank_a == rank_b then
                ____temp_0 = a < b
            else
                ____temp_0 = rank_a < rank_b
            end
            return ____temp_0
        end
    )
    return keys
end
function escape(char)
    return ESCAPES[char] or string.format(
        "\\u%04x",
        string.byte(char)
    )
end
function followers(byte)
    if byte < 128 then
        return 0
    end
    if byte >= 194 and byte <= 223 then
        return 1
    end
    if byte >= 224 and byte <= 239 then
        return 2
    end
    return byte >= 240 and byte <= 244 and 3 or -1
end
function secondFits(first, second)
    if first == 224 then
        return second >= 160
    end
    if first == 237 then
        return second < 160
    end
    if first == 240 then
        return second >= 144
    end
    return first ~= 244 or second < 144
end
function sequenceAt(text, at)
    local first = string.byte(text, at)
    local more = followers(first)
    if more < 0 then
        return 0
    end
    do
        local k = 1
        while k <= more do
            local byte = string.byte(text, at + k)
            if byte == nil or byte < 128 or byte > 191 or k == 1 and not secondFits(first, byte) then
                return 0
            end
            k = k + 1
        end
    end
    return more + 1
end
function validUtf8(text)
    local high = string.find(text, "[^%z-]")
    if high == nil then
        return text
    end
    local parts = {}
    local at = 1
    while at <= #text do
        local length = sequenceAt(text, at)
        parts[#parts + 1] = length > 0 and string.sub(text, at, at + length - 1) or REPLACEMENT
        at = at + math_max(1, length)
    end
    return table.concat(parts)
end
function stringText(text)
    local escaped = string.gsub(
        validUtf8(text),
        "[%c\"\\]",
        escape
    )
    return ("\"" .. escaped) .. "\""
end
function numberText(value)
    if not (value > -math_huge and value < math_huge) then
        return "null"
    end
    return string.format("%.14g", value)
end
function newLine(writer)
    if writer.pretty then
        local ____writer_parts_1 = writer.parts
        ____writer_parts_1[#____writer_parts_1 + 1] = "\n" .. string.rep("  ", writer.depth)
    end
end
function writeList(writer, items)
    local ____writer_parts_2 = writer.parts
    ____writer_parts_2[#____writer_parts_2 + 1] = "["
    writer.depth = writer.depth + 1
    do
        local i = 0
        while i < #items do
            if i > 0 then
                local ____writer_parts_3 = writer.parts
                ____writer_parts_3[#____writer_parts_3 + 1] = ","
            end
            newLine(writer)
            write(writer, items[i + 1])
            i = i + 1
        end
    end
    writer.depth = writer.depth - 1
    if #items > 0 then
        newLine(writer)
    end
    local ____writer_parts_4 = writer.parts
    ____writer_parts_4[#____writer_parts_4 + 1] = "]"
end
function writeObject(writer, record)
    local keys = sortedKeys(record)
    local ____writer_parts_5 = writer.parts
    ____writer_parts_5[#____writer_parts_5 + 1] = "{"
    writer.depth = writer.depth + 1
    do
        local i = 0
        while i < #keys do
            if i > 0 then
                local ____writer_parts_6 = writer.parts
                ____writer_parts_6[#____writer_parts_6 + 1] = ","
            end
            newLine(writer)
            local ____writer_parts_7 = writer.parts
            ____writer_parts_7[#____writer_parts_7 + 1] = stringText(keys[i + 1]) .. (writer.pretty and ": " or ":")
            write(writer, record[keys[i + 1]])
            i = i + 1
        end
    end
    writer.depth = writer.depth - 1
    if #keys > 0 then
        newLine(writer)
    end
    local ____writer_parts_8 = writer.parts
    ____writer_parts_8[#____writer_parts_8 + 1] = "}"
end
function write(writer, value)
    if type(value) == "string" then
        local ____writer_parts_9 = writer.parts
        ____writer_parts_9[#____writer_parts_9 + 1] = stringText(value)
    elseif type(value) == "number" then
        local ____writer_parts_10 = writer.parts
        ____writer_parts_10[#____writer_parts_10 + 1] = numberText(value)
    elseif type(value) == "boolean" then
        local ____writer_parts_11 = writer.parts
        ____writer_parts_11[#____writer_parts_11 + 1] = value and "true" or "false"
    elseif type(value) ~= "table" then
        local ____writer_parts_12 = writer.parts
        ____writer_parts_12[#____writer_parts_12 + 1] = "null"
    elseif value == EMPTY_LIST or #value > 0 then
        writeList(writer, value)
    else
        writeObject(writer, value)
    end
end
EMPTY_LIST = {}
---
-- @returns the list, marked so that it is written as [] when it is empty
function ____exports.jsonList(items)
    return #items == 0 and EMPTY_LIST or items
end
--- Come first, in this order; the rest follows alphabetically.
local LEADING = {
    "status",
    "code",
    "id",
    "name",
    "address",
    "state",
    "reason",
    "operator",
    "kind",
    "since_s",
    "until_s"
}
--- And these come last, in this order: what is long.
local TRAILING = {
    "totals",
    "warnings",
    "faults",
    "events",
    "nodes",
    "upstreams"
}
RANKS = {}
do
    local i = 0
    while i < #LEADING do
        RANKS[LEADING[i + 1]] = i - #LEADING
        i = i + 1
    end
end
do
    local i = 0
    while i < #TRAILING do
        RANKS[TRAILING[i + 1]] = i + 1
        i = i + 1
    end
end
ESCAPES = {
    ["\""] = "\\\"",
    ["\\"] = "\\\\",
    ["\n"] = "\\n",
    ["\r"] = "\\r",
    ["\t"] = "\\t"
}
REPLACEMENT = "�"
---
-- @param value of tables, strings, numbers and booleans; lists that may be empty made by `jsonList`
-- @param pretty one field a line, indented
function ____exports.documentText(value, pretty)
    local writer = {parts = {}, pretty = pretty, depth = 0}
    write(writer, value)
    return table.concat(writer.parts)
end
return ____exports
