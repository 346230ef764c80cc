local pcall = pcall
local ____exports = {}
---
-- @returns the module, or undefined where nginx is built without it. Init phase.
function ____exports.upstreamApi()
    local ok, loaded = pcall(require, "ngx.upstream")
    if not ok or type(loaded) ~= "table" then
        return nil
    end
    local api = loaded
    if type(api.get_servers) ~= "function" or type(api.get_upstreams) ~= "function" then
        return nil
    end
    return api
end
---
-- @returns the block's servers; undefined when nginx has no such block (an upstream that exists only
-- as the address of a proxy_pass is none: its servers have no names)
function ____exports.apiServers(api, upstream)
    local servers = api.get_servers(upstream)
    if servers == nil then
        for ____, name in ipairs(api.get_upstreams()) do
            if string.lower(name) == string.lower(upstream) then
                servers = (api.get_servers(name))
            end
        end
    end
    local ____temp_0
    if servers == nil or #servers > 0 and servers[1].name == nil then
        ____temp_0 = nil
    else
        ____temp_0 = servers
    end
    return ____temp_0
end
---
-- @returns the names of nginx's upstream blocks
function ____exports.apiUpstreams(api)
    local names = {}
    for ____, name in ipairs(api.get_upstreams()) do
        if ____exports.apiServers(api, name) ~= nil then
            names[#names + 1] = name
        end
    end
    return names
end
---
-- @returns a server's addresses as "host:port"
function ____exports.apiAddresses(server)
    return type(server.addr) == "string" and ({server.addr}) or server.addr
end
return ____exports
