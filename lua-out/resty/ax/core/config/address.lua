-- Lua Library inline imports
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

local function __TS__StringIncludes(self, searchString, position)
    if not position then
        position = 1
    else
        position = position + 1
    end
    local index = string.find(self, searchString, position, true)
    return index ~= nil
end

local function __TS__StringStartsWith(self, searchString, position)
    if position == nil or position < 0 then
        position = 0
    end
    return string.sub(self, position + 1, #searchString + position) == searchString
end
-- End of Lua Library inline imports
local ____exports = {}
local ____ip = require("resty.ax.core.config.ip")
local formatIpv6 = ____ip.formatIpv6
local isDigit = ____ip.isDigit
local parseDecimal = ____ip.parseDecimal
local parseIpv4 = ____ip.parseIpv4
local parseIpv6 = ____ip.parseIpv6
--- The forms taken, for messages.
____exports.ADDRESS_FORMS = "\"10.0.0.1:8080\", \"[::1]:8080\" or \"unix:/run/x.sock\""
--- sockaddr_un.sun_path holds 108 bytes on Linux, the last of them a zero.
local MAX_SOCKET_PATH = 107
local COLON = 58
local function parseUnix(text)
    local path = __TS__StringSubstring(text, 5)
    if #path == 0 then
        return {problem = "has no path; write \"unix:/run/x.sock\""}
    end
    if #path > MAX_SOCKET_PATH then
        return {problem = ("is too long; a socket's path has at most " .. tostring(MAX_SOCKET_PATH)) .. " bytes"}
    end
    do
        local i = 0
        while i < #path do
            local code = __TS__StringCharCodeAt(path, i)
            if code < 32 or code == 127 then
                return {problem = "has a control character in its path"}
            end
            i = i + 1
        end
    end
    return {address = {host = text, port = 0}}
end
local function isLetter(code)
    return code >= 97 and code <= 122 or code >= 65 and code <= 90
end
--- What is wrong with a host that is no IP address.
local function hostProblem(host)
    local letters = 0
    do
        local i = 0
        while i < #host do
            local code = __TS__StringCharCodeAt(host, i)
            local dot_dash_underscore = code == 46 or code == 45 or code == 95
            if isLetter(code) then
                letters = letters + 1
            elseif not isDigit(code) and not dot_dash_underscore then
                return ("is not an address; " .. ____exports.ADDRESS_FORMS) .. " is needed"
            end
            i = i + 1
        end
    end
    if letters == 0 then
        return "is not an IPv4 address: four numbers 0..255 without leading zeros, then a port"
    end
    return (("is a host name, and nginx takes only IP addresses here (" .. ____exports.ADDRESS_FORMS) .. "); ") .. "for names, leave nodes out and write server lines in the upstream block"
end
local function withPort(host, port_text)
    local port = parseDecimal(port_text, 65535)
    if port < 1 then
        return {problem = "has no valid port; 1..65535 is needed after the last colon"}
    end
    return {address = {host = host, port = port}}
end
local function parseBracketed(text)
    local ____end = (string.find(text, "]", nil, true) or 0) - 1
    if ____end < 0 then
        return {problem = "has no \"]\"; write \"[::1]:8080\""}
    end
    local inside = __TS__StringSubstring(text, 1, ____end)
    if __TS__StringIncludes(inside, "%") then
        return {problem = "has a zone (%); nginx takes IPv6 addresses without one"}
    end
    local groups = parseIpv6(inside)
    if groups == nil then
        return {problem = "has no valid IPv6 address in its brackets; write \"[::1]:8080\""}
    end
    local host = ("[" .. formatIpv6(groups)) .. "]"
    if ____end == #text - 1 then
        return {problem = ("has no port; write \"" .. host) .. ":80\""}
    end
    if __TS__StringCharCodeAt(text, ____end + 1) ~= COLON then
        return {problem = "has something other than a port after \"]\""}
    end
    return withPort(
        host,
        __TS__StringSubstring(text, ____end + 2)
    )
end
---
-- @param text an address as the user writes it
-- @returns the address in its one canonical form, or what is wrong with it
function ____exports.parseAddress(text)
    if __TS__StringStartsWith(text, "unix:") then
        return parseUnix(text)
    end
    if __TS__StringStartsWith(text, "[") then
        return parseBracketed(text)
    end
    local scheme = (string.find(text, "://", nil, true) or 0) - 1
    if scheme >= 0 then
        return {problem = "starts with a scheme; write the address alone: " .. ____exports.ADDRESS_FORMS}
    end
    local colon = (string.find(text, ":", nil, true) or 0) - 1
    if colon < 0 then
        if parseIpv4(text) ~= nil then
            return {problem = ("has no port; write \"" .. text) .. ":80\""}
        end
        return {problem = text == "" and ("is empty; " .. ____exports.ADDRESS_FORMS) .. " is needed" or hostProblem(text)}
    end
    local rest = __TS__StringSubstring(text, colon + 1)
    if __TS__StringIncludes(rest, ":") then
        return {problem = "looks like an IPv6 address without brackets; write \"[::1]:8080\""}
    end
    local host = __TS__StringSubstring(text, 0, colon)
    if parseIpv4(host) == nil then
        return {problem = hostProblem(host)}
    end
    return withPort(host, rest)
end
---
-- @returns what identifies a node without a name: "host:port" or "unix:/path"
function ____exports.formatAddress(address)
    return address.port == 0 and address.host or (address.host .. ":") .. tostring(address.port)
end
return ____exports
