local ____exports = {}
local hostsOf, adopted
local ____show = require("resty.ax.core.config.show")
local quote = ____show.quote
local ____resolve = require("resty.ax.nginx.conf.resolve")
local resolveHost = ____resolve.resolveHost
local ____server_line = require("resty.ax.nginx.conf.server_line")
local parseServerLine = ____server_line.parseServerLine
function hostsOf(server, resolved)
    local host = server.address.host
    if not server.address.is_name then
        return {host}, nil
    end
    local known = resolved[host]
    if known ~= nil then
        return known, nil
    end
    local hosts, reason = resolveHost(host)
    resolved[host] = hosts
    if hosts ~= nil then
        return hosts, nil
    end
    return nil, ((("host " .. quote(host)) .. " not found: ") .. tostring(reason)) .. " (names are resolved once, at start)"
end
function adopted(server, host)
    return {
        name = server.name,
        host = host,
        port = server.address.port,
        weight = server.weight,
        max_fails = server.max_fails,
        fail_timeout_s = server.fail_timeout_s,
        max_conns = server.max_conns,
        backup = server.backup,
        down = server.down
    }
end
--- Servers of an upstream block from its lines alone; names are resolved. Init phase: it blocks.
-- 
-- @param block at least one server line
-- @returns the servers, or undefined and an error text with file and line
function ____exports.adoptFromBlock(block)
    local adoption = {servers = {}, from = block.file, warnings = {}}
    local resolved = {}
    for ____, line in ipairs(block.servers) do
        local server, err = parseServerLine(line)
        if server == nil then
            return nil, (("upstream " .. quote(block.name)) .. ": ") .. tostring(err)
        end
        for ____, warning in ipairs(server.warnings) do
            local ____adoption_warnings_0 = adoption.warnings
            ____adoption_warnings_0[#____adoption_warnings_0 + 1] = warning
        end
        local hosts, reason = hostsOf(server, resolved)
        if hosts == nil then
            return nil, (((("upstream " .. quote(block.name)) .. ": ") .. server.where) .. ": ") .. tostring(reason)
        end
        for ____, host in ipairs(hosts) do
            local ____adoption_servers_1 = adoption.servers
            ____adoption_servers_1[#____adoption_servers_1 + 1] = adopted(server, host)
        end
    end
    return adoption, nil
end
return ____exports
