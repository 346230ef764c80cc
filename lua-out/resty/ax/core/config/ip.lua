local math_floor = math.floor
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

local function __TS__ArrayPush(self, ...)
    local items = {...}
    local len = #self
    for i = 1, #items do
        len = len + 1
        self[len] = items[i]
    end
    return len
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

local function __TS__StringEndsWith(self, searchString, endPosition)
    if endPosition == nil or endPosition > #self then
        endPosition = #self
    end
    return string.sub(self, endPosition - #searchString + 1, endPosition) == searchString
end
-- End of Lua Library inline imports
local ____exports = {}
--- IP addresses as text: IPv4 dotted quads, and IPv6 by RFC 4291 section 2.2 (without zones), written
-- back in the one form of RFC 5952.
local DOT = 46
local COLON = 58
local HEX = "0123456789abcdef"
---
-- @returns whether the character code is 0-9
function ____exports.isDigit(code)
    return code >= 48 and code <= 57
end
local function hexValue(code)
    if ____exports.isDigit(code) then
        return code - 48
    end
    if code >= 97 and code <= 102 then
        return code - 87
    end
    return code >= 65 and code <= 70 and code - 55 or -1
end
---
-- @returns the whole decimal number without leading zeros, at most `max` (≤ 99999); -1 otherwise
function ____exports.parseDecimal(text, max)
    local length = #text
    if length == 0 or length > 5 or length > 1 and (string.byte(text, 1) or 0 / 0) == 48 then
        return -1
    end
    local value = 0
    do
        local i = 0
        while i < length do
            local code = __TS__StringCharCodeAt(text, i)
            if not ____exports.isDigit(code) then
                return -1
            end
            value = value * 10 + code - 48
            i = i + 1
        end
    end
    return value <= max and value or -1
end
---
-- @returns the parts between separators
local function split(text, separator)
    local parts = {}
    local start = 0
    do
        local i = 0
        while i <= #text do
            if i == #text or __TS__StringCharCodeAt(text, i) == separator then
                parts[#parts + 1] = __TS__StringSubstring(text, start, i)
                start = i + 1
            end
            i = i + 1
        end
    end
    return parts
end
---
-- @param text dotted quad; no leading zeros, which some read as octal
-- @returns four numbers 0..255, or undefined
function ____exports.parseIpv4(text)
    if #text > 15 then
        return nil
    end
    local parts = split(text, DOT)
    if #parts ~= 4 then
        return nil
    end
    local bytes = {}
    do
        local i = 0
        while i < 4 do
            local byte = ____exports.parseDecimal(parts[i + 1], 255)
            if byte < 0 then
                return nil
            end
            bytes[#bytes + 1] = byte
            i = i + 1
        end
    end
    return bytes
end
--- Reads groups without "::"; the last may be a dotted quad when `quad`.
local function parseGroups(text, quad)
    local groups = {}
    if text == "" then
        return groups
    end
    local parts = split(text, COLON)
    do
        local i = 0
        while i < #parts do
            do
                local part = parts[i + 1]
                local ____temp_0
                if quad and i == #parts - 1 then
                    ____temp_0 = ____exports.parseIpv4(part)
                else
                    ____temp_0 = nil
                end
                local bytes = ____temp_0
                if bytes ~= nil then
                    __TS__ArrayPush(groups, bytes[1] * 256 + bytes[2], bytes[3] * 256 + bytes[4])
                    goto __continue24
                end
                if #part == 0 or #part > 4 then
                    return nil
                end
                local value = 0
                do
                    local k = 0
                    while k < #part do
                        local digit = hexValue(__TS__StringCharCodeAt(part, k))
                        if digit < 0 then
                            return nil
                        end
                        value = value * 16 + digit
                        k = k + 1
                    end
                end
                groups[#groups + 1] = value
            end
            ::__continue24::
            i = i + 1
        end
    end
    return groups
end
---
-- @param text IPv6 without brackets and zone
-- @returns eight numbers 0..65535, or undefined
function ____exports.parseIpv6(text)
    if #text > 45 then
        return nil
    end
    local gap = (string.find(text, "::", nil, true) or 0) - 1
    if gap < 0 then
        local groups = parseGroups(text, true)
        return groups ~= nil and text ~= "" and #groups == 8 and groups or nil
    end
    local head = parseGroups(
        __TS__StringSubstring(text, 0, gap),
        false
    )
    local tail = parseGroups(
        __TS__StringSubstring(text, gap + 2),
        true
    )
    if head == nil or tail == nil or #head + #tail > 7 then
        return nil
    end
    while #head + #tail < 8 do
        head[#head + 1] = 0
    end
    do
        local i = 0
        while i < #tail do
            head[#head + 1] = tail[i + 1]
            i = i + 1
        end
    end
    return head
end
local function hex(value)
    local text = ""
    local rest = value
    repeat
        do
            text = __TS__StringCharAt(HEX, rest % 16) .. text
            rest = math_floor(rest / 16)
        end
    until not (rest > 0)
    return text
end
--- The longest run of at least two zero groups, the first of equal ones (RFC 5952, 4.2).
local function longestZeros(groups)
    local longest = {start = -1, length = 1}
    local length = 0
    do
        local i = 0
        while i < 8 do
            length = groups[i + 1] == 0 and length + 1 or 0
            if length > longest.length then
                longest.start = i - length + 1
                longest.length = length
            end
            i = i + 1
        end
    end
    return longest
end
---
-- @param groups eight numbers 0..65535
-- @returns the one text form of RFC 5952; IPv4-mapped addresses end in a dotted quad, as nginx writes them
function ____exports.formatIpv6(groups)
    local zeros = longestZeros(groups)
    if zeros.start == 0 and zeros.length == 5 and groups[6] == 65535 then
        local high = groups[7]
        local low = groups[8]
        return (((((("::ffff:" .. tostring(math_floor(high / 256))) .. ".") .. tostring(high % 256)) .. ".") .. tostring(math_floor(low / 256))) .. ".") .. tostring(low % 256)
    end
    local text = ""
    local i = 0
    while i < 8 do
        if i == zeros.start then
            text = text .. "::"
            i = i + zeros.length
        else
            text = text .. ((text == "" or __TS__StringEndsWith(text, "::")) and "" or ":") .. hex(groups[i + 1])
            i = i + 1
        end
    end
    return text
end
return ____exports
