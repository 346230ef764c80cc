local bit_lshift = bit.lshift
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
-- End of Lua Library inline imports
local ____exports = {}
local ____hash = require("resty.ax.core.hash")
local hashBytes = ____hash.hashBytes
local hashNumber = ____hash.hashNumber
local hashPrefix = ____hash.hashPrefix
local KEY_SEED = ____hash.KEY_SEED
--- nginx's ip_hash: neighbours share a node. A provider's customer keeps it over most changes of address.
____exports.IPV4_PREFIX_BITS = 24
--- What a site gets (RFC 6177): hosts change the lower half at will (RFC 8981).
____exports.IPV6_PREFIX_BITS = 64
--- Whether 16 bytes are an IPv4 address written as IPv6, ::ffff:a.b.c.d (RFC 4291, 2.5.5.2).
local function isMapped(bytes)
    do
        local k = 0
        while k < 10 do
            if __TS__StringCharCodeAt(bytes, k) ~= 0 then
                return false
            end
            k = k + 1
        end
    end
    return (string.byte(bytes, 11) or 0 / 0) == 255 and (string.byte(bytes, 12) or 0 / 0) == 255
end
--- Hashes the first `bits` bits.
local function hashBits(bytes, bits)
    local whole = math_floor(bits / 8)
    local rest = bits - whole * 8
    local hash = hashPrefix(bytes, whole, KEY_SEED)
    if rest == 0 then
        return hash
    end
    local byte = __TS__StringCharCodeAt(bytes, whole)
    return hashNumber(
        byte - byte % bit_lshift(1, 8 - rest),
        hash
    )
end
--- Hashes an address so that all with the same leading bits give the same.
-- 
-- @param bytes 4 (IPv4), 16 (IPv6); anything else counts whole
-- @returns 0 .. 2^32-1
function ____exports.hashAddress(bytes, how)
    if #bytes == 4 then
        return hashBits(bytes, how.ipv4_prefix_bits)
    end
    if #bytes ~= 16 then
        return hashBytes(bytes, KEY_SEED)
    end
    if isMapped(bytes) then
        return hashBits(
            string.sub(bytes, 13),
            how.ipv4_prefix_bits
        )
    end
    return hashBits(bytes, how.ipv6_prefix_bits)
end
--- Options of the names in AddressKey; nginx's own prefixes where a module of the user's has none.
function ____exports.addressKeyOf(options)
    return {ipv4_prefix_bits = options.ipv4_prefix_bits or ____exports.IPV4_PREFIX_BITS, ipv6_prefix_bits = options.ipv6_prefix_bits or ____exports.IPV6_PREFIX_BITS, port = options.port == true}
end
--- The key of a request.
-- 
-- @param text value of `hash_key`; "" = none
-- @param address the client's address as bytes; read when there is no text, or `how` is given
-- @param port the client's port; read when `how` asks for it
-- @param how undefined: the text is the key, the address stands in for it
-- @returns 0 .. 2^32-1
function ____exports.keyOf(text, address, port, how)
    if how == nil then
        return hashBytes(text ~= "" and text or address, KEY_SEED)
    end
    local key = ____exports.hashAddress(address, how)
    if how.port then
        key = hashBytes(port, key)
    end
    return text ~= "" and hashBytes(text, key) or key
end
return ____exports
