local tonumber = tonumber
local ____exports = {}
local parseUnix, parseBracketed, parsePort, parseNginxIpv4, DEFAULT_PORT, MAX_SOCKET_PATH
local ____ip = require("resty.ax.core.config.ip")
local formatIpv6 = ____ip.formatIpv6
local parseIpv6 = ____ip.parseIpv6
function parseUnix(path)
    if path == "" then
        return nil, "no path after \"unix:\""
    end
    if #path > MAX_SOCKET_PATH then
        return nil, ("a socket's path of more than " .. tostring(MAX_SOCKET_PATH)) .. " bytes"
    end
    return {host = "unix:" .. path, port = 0, is_name = false}, nil
end
function parseBracketed(text)
    local inside, rest = string.match(text, "^%[([^%]]*)%](.*)$")
    if inside == nil then
        return nil, "no \"]\""
    end
    local groups = parseIpv6(inside)
    if groups == nil then
        return nil, "no valid IPv6 address in the brackets"
    end
    if rest ~= "" and string.sub(rest, 1, 1) ~= ":" then
        return nil, "something other than \":\" and a port after \"]\""
    end
    local ____parsePort_3 = parsePort
    local ____temp_2
    if rest == "" then
        ____temp_2 = nil
    else
        ____temp_2 = string.sub(rest, 2)
    end
    local port, err = ____parsePort_3(____temp_2)
    if port == nil then
        return nil, err
    end
    return {
        host = ("[" .. formatIpv6(groups)) .. "]",
        port = port,
        is_name = false
    }, nil
end
function parsePort(text)
    if text == nil then
        return DEFAULT_PORT, nil
    end
    local ____temp_4
    if (string.find(text, "^%d+$")) == nil then
        ____temp_4 = nil
    else
        ____temp_4 = tonumber(text)
    end
    local port = ____temp_4
    if port == nil or port < 1 or port > 65535 then
        local ipv6 = (string.find(text, ":", 1, true)) ~= nil
        return nil, ipv6 and "an IPv6 address needs brackets: [::1]:80" or "the port must be 1..65535"
    end
    return port, nil
end
function parseNginxIpv4(text)
    local a, b, c, d = string.match(text, "^(%d*)%.(%d*)%.(%d*)%.(%d*)$")
    if a == nil then
        return nil
    end
    local canonical = ""
    for ____, part in ipairs({a, b, c, d}) do
        local value = part == "" and 0 or (tonumber(part) or 256)
        if value > 255 then
            return nil
        end
        canonical = canonical .. (canonical == "" and "" or ".") .. tostring(value)
    end
    local ____temp_5
    if canonical == "255.255.255.255" then
        ____temp_5 = nil
    else
        ____temp_5 = canonical
    end
    return ____temp_5
end
DEFAULT_PORT = 80
MAX_SOCKET_PATH = 107
---
-- @param text "10.0.0.1", "10.0.0.1:80", "app", "app:80", "[::1]", "[::1]:80" or "unix:/path"; port 80 by default
-- @returns the address, or undefined and what is wrong with it
function ____exports.parseServerAddress(text)
    if (string.find(text, "[%z%c ]")) ~= nil then
        return nil, "a blank or control character in the address"
    end
    if string.lower(string.sub(text, 1, 5)) == "unix:" then
        return parseUnix(string.sub(text, 6))
    end
    if string.sub(text, 1, 1) == "[" then
        return parseBracketed(text)
    end
    if (string.find(text, "^%a[%w+.-]*://")) ~= nil then
        return nil, "an address without \"http://\" is needed"
    end
    if (string.find(text, "[/?]")) ~= nil then
        return nil, "a host without \"/\" or \"?\" is needed"
    end
    local colon = string.find(text, ":", 1, true)
    local host = colon == nil and text or string.sub(text, 1, colon - 1)
    local ____parsePort_1 = parsePort
    local ____temp_0
    if colon == nil then
        ____temp_0 = nil
    else
        ____temp_0 = string.sub(text, colon + 1)
    end
    local port, err = ____parsePort_1(____temp_0)
    if port == nil then
        return nil, err
    end
    if host == "" then
        return nil, "no host"
    end
    local ipv4 = parseNginxIpv4(host)
    return {host = ipv4 or host, port = port, is_name = ipv4 == nil}, nil
end
return ____exports
