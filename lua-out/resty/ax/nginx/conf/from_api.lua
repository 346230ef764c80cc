-- Lua Library inline imports
local function __TS__CountVarargs(...)
    return select("#", ...)
end

local function __TS__ArraySplice(self, ...)
    local args = {...}
    local len = #self
    local actualArgumentCount = __TS__CountVarargs(...)
    local start = args[1]
    local deleteCount = args[2]
    if start < 0 then
        start = len + start
        if start < 0 then
            start = 0
        end
    elseif start > len then
        start = len
    end
    local itemCount = actualArgumentCount - 2
    if itemCount < 0 then
        itemCount = 0
    end
    local actualDeleteCount
    if actualArgumentCount == 0 then
        actualDeleteCount = 0
    elseif actualArgumentCount == 1 then
        actualDeleteCount = len - start
    else
        actualDeleteCount = deleteCount or 0
        if actualDeleteCount < 0 then
            actualDeleteCount = 0
        end
        if actualDeleteCount > len - start then
            actualDeleteCount = len - start
        end
    end
    local out = {}
    for k = 1, actualDeleteCount do
        local from = start + k
        if self[from] ~= nil then
            out[k] = self[from]
        end
    end
    if itemCount < actualDeleteCount then
        for k = start + 1, len - actualDeleteCount do
            local from = k + actualDeleteCount
            local to = k + itemCount
            if self[from] then
                self[to] = self[from]
            else
                self[to] = nil
            end
        end
        for k = len - actualDeleteCount + itemCount + 1, len do
            self[k] = nil
        end
    elseif itemCount > actualDeleteCount then
        for k = len - actualDeleteCount, start + 1, -1 do
            local from = k + actualDeleteCount
            local to = k + itemCount
            if self[from] then
                self[to] = self[from]
            else
                self[to] = nil
            end
        end
    end
    local j = start + 1
    for i = 3, actualArgumentCount do
        self[j] = args[i]
        j = j + 1
    end
    for k = #self, len - actualDeleteCount + itemCount + 1, -1 do
        self[k] = nil
    end
    return out
end
-- End of Lua Library inline imports
local ____exports = {}
local parsedLines, takeLine, addressesOf, adopted, NGINX_MAX_FAILS, NGINX_FAIL_TIMEOUT_S
local ____show = require("resty.ax.core.config.show")
local quote = ____show.quote
local ____ngx_upstream = require("resty.ax.nginx.conf.ngx_upstream")
local apiAddresses = ____ngx_upstream.apiAddresses
local ____server_address = require("resty.ax.nginx.conf.server_address")
local parseServerAddress = ____server_address.parseServerAddress
local ____server_line = require("resty.ax.nginx.conf.server_line")
local parseServerLine = ____server_line.parseServerLine
function parsedLines(block, warnings)
    local lines = {}
    for ____, written in ipairs(block.servers) do
        local line, err = parseServerLine(written)
        if line ~= nil then
            lines[#lines + 1] = line
        else
            warnings[#warnings + 1] = err or ""
        end
    end
    return lines
end
function takeLine(lines, server)
    do
        local i = 0
        while i < #lines do
            if lines[i + 1].name == server.name then
                return __TS__ArraySplice(lines, i, 1)[1]
            end
            i = i + 1
        end
    end
    return nil
end
function addressesOf(server)
    local addresses = {}
    local seen = {}
    for ____, text in ipairs(apiAddresses(server)) do
        local address = parseServerAddress(text)
        if address == nil or address.is_name then
            local reason = "names are resolved once, at start; take \"resolve\" out, or list the nodes under \"nodes\""
            return nil, (((("server " .. quote(server.name or "")) .. " has no address at start (") .. quote(text)) .. "): ") .. reason
        end
        local id = (address.host .. ":") .. tostring(address.port)
        if seen[id] == nil then
            addresses[#addresses + 1] = address
        end
        seen[id] = true
    end
    return addresses, nil
end
function adopted(server, line, address)
    local ____temp_3
    if server.max_fails == NGINX_MAX_FAILS then
        ____temp_3 = nil
    else
        ____temp_3 = server.max_fails
    end
    local max_fails = ____temp_3
    local ____temp_4
    if server.fail_timeout == NGINX_FAIL_TIMEOUT_S then
        ____temp_4 = nil
    else
        ____temp_4 = server.fail_timeout
    end
    local fail_timeout_s = ____temp_4
    local ____temp_7 = server.name or address.host
    local ____address_host_8 = address.host
    local ____address_port_9 = address.port
    local ____server_weight_10 = server.weight
    local ____temp_5
    if line == nil then
        ____temp_5 = max_fails
    else
        ____temp_5 = line.max_fails
    end
    local ____temp_6
    if line == nil then
        ____temp_6 = fail_timeout_s
    else
        ____temp_6 = line.fail_timeout_s
    end
    return {
        name = ____temp_7,
        host = ____address_host_8,
        port = ____address_port_9,
        weight = ____server_weight_10,
        max_fails = ____temp_5,
        fail_timeout_s = ____temp_6,
        max_conns = line == nil and 0 or line.max_conns,
        backup = server.backup == true,
        down = server.down == true
    }
end
NGINX_MAX_FAILS = 1
NGINX_FAIL_TIMEOUT_S = 10
--- Servers of an upstream block from ngx.upstream, with what it cannot tell (max_conns, and whether
-- max_fails and fail_timeout were written) from the block's lines where they can be had.
-- 
-- @param upstream name of the block
-- @param servers at least one
-- @param block the block in the configuration file, if it was found there
-- @returns the servers, or undefined and an error text
function ____exports.adoptFromApi(upstream, servers, block)
    local adoption = {servers = {}, from = "ngx.upstream", warnings = {}}
    local lines = block == nil and ({}) or parsedLines(block, adoption.warnings)
    for ____, server in ipairs(servers) do
        local line = takeLine(lines, server)
        if line ~= nil then
            for ____, warning in ipairs(line.warnings) do
                local ____adoption_warnings_0 = adoption.warnings
                ____adoption_warnings_0[#____adoption_warnings_0 + 1] = warning
            end
        end
        if line == nil and block ~= nil then
            local where = (("the block at " .. block.file) .. ":") .. tostring(block.line)
            local ____adoption_warnings_1 = adoption.warnings
            ____adoption_warnings_1[#____adoption_warnings_1 + 1] = ((("server " .. quote(server.name or "")) .. " is not in ") .. where) .. ": its max_conns, if any, is not seen"
        end
        local addresses, err = addressesOf(server)
        if addresses == nil then
            return nil, (("upstream " .. quote(upstream)) .. ": ") .. tostring(err)
        end
        for ____, address in ipairs(addresses) do
            local ____adoption_servers_2 = adoption.servers
            ____adoption_servers_2[#____adoption_servers_2 + 1] = adopted(server, line, address)
        end
    end
    return adoption, nil
end
return ____exports
