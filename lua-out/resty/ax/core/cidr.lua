local math_floor = math.floor
-- Lua Library inline imports
local function __TS__ArrayPush(self, ...)
    local items = {...}
    local len = #self
    for i = 1, #items do
        len = len + 1
        self[len] = items[i]
    end
    return len
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
local ____ip = require("resty.ax.core.config.ip")
local parseDecimal = ____ip.parseDecimal
local parseIpv4 = ____ip.parseIpv4
local parseIpv6 = ____ip.parseIpv6
--- What is taken, for messages.
____exports.CIDR_FORMS = "an address or a range like \"10.0.0.0/8\" or \"2001:db8::/32\""
local function bytesOf(address)
    local ipv4 = parseIpv4(address)
    if ipv4 ~= nil then
        return ipv4
    end
    local groups = parseIpv6(address)
    if groups == nil then
        return nil
    end
    local bytes = {}
    do
        local i = 0
        while i < 8 do
            __TS__ArrayPush(
                bytes,
                math_floor(groups[i + 1] / 256),
                groups[i + 1] % 256
            )
            i = i + 1
        end
    end
    return bytes
end
---
-- @returns the range, or undefined when the text is none
function ____exports.parseCidr(text)
    local slash = (string.find(text, "/", nil, true) or 0) - 1
    local bytes = bytesOf(slash < 0 and text or __TS__StringSubstring(text, 0, slash))
    if bytes == nil then
        return nil
    end
    local most = #bytes * 8
    local bits = slash < 0 and most or parseDecimal(
        __TS__StringSubstring(text, slash + 1),
        most
    )
    local ____temp_0
    if bits < 0 then
        ____temp_0 = nil
    else
        ____temp_0 = {bytes = bytes, bits = bits}
    end
    return ____temp_0
end
---
-- @returns what is wrong with a range, to be read after the quoted text
function ____exports.checkCidr(text)
    return ____exports.parseCidr(text) == nil and ("is no address range; " .. ____exports.CIDR_FORMS) .. " is needed" or nil
end
--- Whether the bytes from `from` on begin with the range's bits.
local function beginsWith(address, from, cidr)
    local whole = math_floor(cidr.bits / 8)
    do
        local i = 0
        while i < whole do
            if __TS__StringCharCodeAt(address, from + i) ~= cidr.bytes[i + 1] then
                return false
            end
            i = i + 1
        end
    end
    local rest = cidr.bits - whole * 8
    if rest == 0 then
        return true
    end
    local unit = 2 ^ (8 - rest)
    return math_floor(__TS__StringCharCodeAt(address, from + whole) / unit) == math_floor(cidr.bytes[whole + 1] / unit)
end
--- Whether 16 bytes are an IPv4 address written as IPv6, ::ffff:a.b.c.d (RFC 4291, 2.5.5.2).
local function isMapped(address)
    do
        local i = 0
        while i < 10 do
            if __TS__StringCharCodeAt(address, i) ~= 0 then
                return false
            end
            i = i + 1
        end
    end
    return (string.byte(address, 11) or 0 / 0) == 255 and (string.byte(address, 12) or 0 / 0) == 255
end
---
-- @param address 4 bytes (IPv4) or 16 (IPv6), as $binary_remote_addr; of any other length it is in no range
-- @returns whether it is in one of the ranges; an IPv4 address written as IPv6 counts as IPv4 too
function ____exports.isInRanges(address, ranges)
    local length = #address
    do
        local i = 0
        while i < #ranges do
            local size = #ranges[i + 1].bytes
            if size == length and beginsWith(address, 0, ranges[i + 1]) then
                return true
            end
            if size == 4 and length == 16 and isMapped(address) and beginsWith(address, 12, ranges[i + 1]) then
                return true
            end
            i = i + 1
        end
    end
    return false
end
return ____exports
