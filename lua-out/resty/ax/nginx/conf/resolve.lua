-- Lua Library inline imports
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
-- End of Lua Library inline imports
local ____exports = {}
local addressOf, AF_INET, AF_INET6, IPV4_OFFSET, IPV6_OFFSET
local ffi = require("ffi")
local ____ip = require("resty.ax.core.config.ip")
local formatIpv6 = ____ip.formatIpv6
local ____libc = require("resty.ax.nginx.conf.libc")
local lastError = ____libc.lastError
local libc = ____libc.libc
function addressOf(entry)
    local bytes = entry.ai_addr
    if entry.ai_family == AF_INET then
        local at = IPV4_OFFSET
        return (((((tostring(bytes[at]) .. ".") .. tostring(bytes[at + 1])) .. ".") .. tostring(bytes[at + 2])) .. ".") .. tostring(bytes[at + 3])
    end
    if entry.ai_family ~= AF_INET6 then
        return nil
    end
    local groups = {}
    do
        local at = IPV6_OFFSET
        while at < IPV6_OFFSET + 16 do
            groups[#groups + 1] = bytes[at] * 256 + bytes[at + 1]
            at = at + 2
        end
    end
    return ("[" .. formatIpv6(groups)) .. "]"
end
local AF_UNSPEC = 0
AF_INET = 2
AF_INET6 = 10
local SOCK_STREAM = 1
--- Only address families this machine has an address of: what nginx asks for.
local AI_ADDRCONFIG = 32
--- The reason is in errno.
local EAI_SYSTEM = -11
IPV4_OFFSET = 4
IPV6_OFFSET = 8
--- Looks a name up as nginx does at start (ngx_inet_resolve_host in src/core/ngx_inet.c): the system's
-- resolver, with /etc/hosts and search domains. Init phase: it blocks.
-- 
-- @param name host name
-- @returns its addresses, IPv6 in brackets, in the resolver's order without repetitions; or undefined
-- and the reason
function ____exports.resolveHost(name)
    local hints = ffi.new("struct ax_addrinfo")
    hints.ai_family = AF_UNSPEC
    hints.ai_socktype = SOCK_STREAM
    hints.ai_flags = AI_ADDRCONFIG
    local result = ffi.new("struct ax_addrinfo *[1]")
    local code = libc.ax_getaddrinfo(name, nil, hints, result)
    if code ~= 0 then
        return nil, code == EAI_SYSTEM and lastError() or ffi.string(libc.ax_gai_strerror(code))
    end
    local addresses = {}
    local entry = result[0]
    while entry ~= nil do
        local address = addressOf(entry)
        if address ~= nil and not __TS__ArrayIncludes(addresses, address) then
            addresses[#addresses + 1] = address
        end
        entry = entry.ai_next
    end
    local first = result[0]
    if first ~= nil then
        libc.ax_freeaddrinfo(first)
    end
    if #addresses == 0 then
        return nil, "it has neither IPv4 nor IPv6 addresses"
    end
    return addresses, nil
end
return ____exports
