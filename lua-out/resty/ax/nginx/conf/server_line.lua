local ____exports = {}
local takeParameter, takeWord, takeOther, KNOWN, TIME_FORMS, IGNORED, REFUSED
local ____show = require("resty.ax.core.config.show")
local quote = ____show.quote
local ____suggest = require("resty.ax.core.config.suggest")
local suggest = ____suggest.suggest
local ____nginx_numbers = require("resty.ax.nginx.conf.nginx_numbers")
local parseCount = ____nginx_numbers.parseCount
local parseSeconds = ____nginx_numbers.parseSeconds
local ____server_address = require("resty.ax.nginx.conf.server_address")
local parseServerAddress = ____server_address.parseServerAddress
function takeParameter(server, parameter)
    local equals = string.find(parameter, "=", 1, true)
    if equals == nil then
        return takeWord(server, parameter)
    end
    local key = string.sub(parameter, 1, equals - 1)
    local value = string.sub(parameter, equals + 1)
    if key == "fail_timeout" then
        server.fail_timeout_s = parseSeconds(value)
        return server.fail_timeout_s == nil and ((quote(parameter) .. ": ") .. TIME_FORMS) .. " is needed" or nil
    end
    if key == "weight" or key == "max_conns" or key == "max_fails" then
        local least = key == "weight" and 1 or 0
        local count = parseCount(value)
        if count == nil or count < least then
            return ((quote(parameter) .. ": a whole number from ") .. tostring(least)) .. " on is needed"
        end
        server[key] = count
        return nil
    end
    return takeOther(server, key, parameter)
end
function takeWord(server, word)
    if word == "backup" then
        server.backup = true
    elseif word == "down" then
        server.down = true
    elseif word == "drain" then
        server.down = true
        local ____server_warnings_0 = server.warnings
        ____server_warnings_0[#____server_warnings_0 + 1] = ((server.where .. ": server ") .. quote(server.name)) .. ": \"drain\" is taken as \"down\""
    else
        return takeOther(server, word, word)
    end
    return nil
end
function takeOther(server, key, parameter)
    local refused = REFUSED[key]
    if refused ~= nil then
        return (quote(parameter) .. ": ") .. refused
    end
    local ignored = IGNORED[key]
    if ignored == nil then
        local nearest = suggest(parameter, KNOWN) or suggest(key .. "=", KNOWN)
        local hint = nearest == nil and "" or (" (did you mean " .. quote(nearest)) .. "?)"
        return ((("unknown parameter " .. quote(parameter)) .. hint) .. "; known are ") .. table.concat(KNOWN, ", ")
    end
    local ____server_warnings_1 = server.warnings
    ____server_warnings_1[#____server_warnings_1 + 1] = (((((server.where .. ": server ") .. quote(server.name)) .. ": ") .. quote(parameter)) .. " is ignored: ") .. ignored
    return nil
end
--- nginx's default of `weight`.
____exports.DEFAULT_WEIGHT = 1
KNOWN = {
    "weight=",
    "max_conns=",
    "max_fails=",
    "fail_timeout=",
    "backup",
    "down"
}
TIME_FORMS = "a time such as \"10\", \"10s\" or \"1m30s\" (whole seconds)"
IGNORED = {slow_start = "nodes that return are always ramped up; see ramp_s", route = "there are no sticky sessions by route here"}
REFUSED = {resolve = "names are resolved once, at start; take \"resolve\" out, or list the nodes under \"nodes\"", service = "SRV records are not looked up; list the nodes under \"nodes\""}
--- Understands a `server` line as ngx_http_upstream_server in src/http/ngx_http_upstream.c does.
-- 
-- @returns the server, or undefined and an error text that starts with file and line
function ____exports.parseServerLine(line)
    local where = (line.file .. ":") .. tostring(line.line)
    local name = line.words[2]
    if name == nil then
        return nil, where .. ": \"server\" needs an address"
    end
    do
        local i = 1
        while i < #line.words do
            if (string.find(line.words[i + 1], "$", 1, true)) ~= nil then
                local text = ((where .. ": server ") .. quote(name)) .. ": variables are not possible in a server line"
                return nil, (text .. ", neither here nor in nginx: ") .. quote(line.words[i + 1])
            end
            i = i + 1
        end
    end
    local address, address_err = parseServerAddress(name)
    if address == nil then
        return nil, (((where .. ": server ") .. quote(name)) .. ": ") .. tostring(address_err)
    end
    local server = {
        name = name,
        address = address,
        weight = ____exports.DEFAULT_WEIGHT,
        max_conns = 0,
        backup = false,
        down = false,
        where = where,
        warnings = {}
    }
    do
        local i = 2
        while i < #line.words do
            local err = takeParameter(server, line.words[i + 1])
            if err ~= nil then
                return nil, (((where .. ": server ") .. quote(name)) .. ": ") .. err
            end
            i = i + 1
        end
    end
    return server, nil
end
return ____exports
