local math_floor = math.floor
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
-- End of Lua Library inline imports
local ____exports = {}
--- Field numbers of orca_load_report.proto.
local DOUBLES = {
    [1] = "cpu_utilization",
    [2] = "mem_utilization",
    [6] = "rps_fractional",
    [7] = "eps",
    [9] = "application_utilization"
}
local VARINTS = {[3] = "rps"}
local MAPS = {[4] = "request_cost", [5] = "utilization", [8] = "named_metrics"}
local VARINT = 0
local FIXED64 = 1
local BYTES = 2
local FIXED32 = 5
--- A 64-bit number takes no more.
local VARINT_BYTES = 10
local ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
--- 0..63; the alphabet of URLs is taken as well; -1: none of it
local function sextet(char)
    if char == "-" then
        return 62
    end
    return char == "_" and 63 or (string.find(ALPHABET, char, nil, true) or 0) - 1
end
---
-- @returns the bytes of base64, padded or not; undefined when it is none
local function fromBase64(text)
    local length = #text
    while length > 0 and __TS__StringCharAt(text, length - 1) == "=" do
        length = length - 1
    end
    local bytes = {}
    local count = 0
    local bits = 0
    local held = 0
    do
        local i = 0
        while i < length do
            local six = sextet(__TS__StringCharAt(text, i))
            if six < 0 then
                return nil
            end
            held = held * 64 + six
            bits = bits + 6
            if bits >= 8 then
                bits = bits - 8
                local unit = 2 ^ bits
                bytes[count + 1] = math_floor(held / unit)
                held = held % unit
                count = count + 1
            end
            i = i + 1
        end
    end
    return bytes
end
local function nextByte(reader)
    if reader.at >= reader["end"] then
        reader.broken = true
        return 0
    end
    reader.at = reader.at + 1
    return reader.bytes[reader.at]
end
local function varint(reader)
    local value = 0
    local unit = 1
    do
        local i = 0
        while i < VARINT_BYTES do
            local byte = nextByte(reader)
            value = value + byte % 128 * unit
            if byte < 128 then
                return value
            end
            unit = unit * 128
            i = i + 1
        end
    end
    reader.broken = true
    return 0
end
--- IEEE 754, lowest byte first. NaN and infinities come out as NaN.
local function double(reader)
    local mantissa = 0
    local unit = 1
    do
        local i = 0
        while i < 6 do
            mantissa = mantissa + nextByte(reader) * unit
            unit = unit * 256
            i = i + 1
        end
    end
    local seventh = nextByte(reader)
    local eighth = nextByte(reader)
    mantissa = mantissa + seventh % 16 * unit
    local exponent = eighth % 128 * 16 + math_floor(seventh / 16)
    local sign = eighth >= 128 and -1 or 1
    if exponent == 2047 then
        return 0 / 0
    end
    if exponent == 0 then
        return sign * mantissa * 2 ^ (-1074)
    end
    return sign * (1 + mantissa * 2 ^ (-52)) * 2 ^ (exponent - 1023)
end
local function skip(reader, wire_type)
    if wire_type == VARINT then
        varint(reader)
    elseif wire_type == FIXED64 then
        reader.at = reader.at + 8
    elseif wire_type == BYTES then
        local length = varint(reader)
        reader.at = reader.at + length
    elseif wire_type == FIXED32 then
        reader.at = reader.at + 4
    else
        reader.broken = true
    end
    if reader.at > reader["end"] then
        reader.broken = true
    end
end
--- The next `length` bytes as a reader of their own.
local function part(reader, length)
    local at = reader.at
    local fits = at + length <= reader["end"]
    if not fits then
        reader.broken = true
    end
    reader.at = fits and at + length or reader["end"]
    return {bytes = reader.bytes, at = at, ["end"] = reader.at, broken = not fits}
end
local function text(reader)
    local found = ""
    while reader.at < reader["end"] do
        found = found .. string.char(nextByte(reader))
    end
    return found
end
local function put(figures, name, value)
    figures.names[#figures.names + 1] = name
    figures.values[#figures.values + 1] = value
end
--- An entry of a map: a message of key (1) and value (2), both of which may be absent.
local function mapEntry(entry, map, figures)
    local key = ""
    local value = 0
    while entry.at < entry["end"] and not entry.broken do
        local tag = varint(entry)
        local field = math_floor(tag / 8)
        local wire_type = tag % 8
        if field == 1 and wire_type == BYTES then
            key = text(part(
                entry,
                varint(entry)
            ))
        elseif field == 2 and wire_type == FIXED64 then
            value = double(entry)
        else
            skip(entry, wire_type)
        end
    end
    if not entry.broken then
        put(figures, (map .. ".") .. key, value)
    end
end
local function field(reader, figures)
    local tag = varint(reader)
    local number = math_floor(tag / 8)
    local wire_type = tag % 8
    local of_double = DOUBLES[number]
    local of_varint = VARINTS[number]
    local map = MAPS[number]
    if of_double ~= nil and wire_type == FIXED64 then
        put(
            figures,
            of_double,
            double(reader)
        )
    elseif of_varint ~= nil and wire_type == VARINT then
        put(
            figures,
            of_varint,
            varint(reader)
        )
    elseif map ~= nil and wire_type == BYTES then
        local entry = part(
            reader,
            varint(reader)
        )
        mapEntry(entry, map, figures)
        if entry.broken then
            reader.broken = true
        end
    else
        skip(reader, wire_type)
    end
end
---
-- @param base64 what follows "BIN "
-- @returns undefined when it is no base64 or no whole message; figures are to be checked by the caller
function ____exports.readBin(base64)
    local bytes = fromBase64(base64)
    if bytes == nil then
        return nil
    end
    local reader = {bytes = bytes, at = 0, ["end"] = #bytes, broken = false}
    local figures = {names = {}, values = {}}
    while reader.at < reader["end"] and not reader.broken do
        field(reader, figures)
    end
    local ____reader_broken_0
    if reader.broken then
        ____reader_broken_0 = nil
    else
        ____reader_broken_0 = figures
    end
    return ____reader_broken_0
end
return ____exports
