local ____exports = {}
local openSource, adoptFrom, askApi, lookedFor, unreadable, emptyBlock, unknownInFile, unknownUpstream, MAX_LISTED, LIST_THEM
local ____show = require("resty.ax.core.config.show")
local quote = ____show.quote
local ____suggest = require("resty.ax.core.config.suggest")
local suggest = ____suggest.suggest
local ____from_api = require("resty.ax.nginx.conf.from_api")
local adoptFromApi = ____from_api.adoptFromApi
local ____block_order = require("resty.ax.nginx.conf.block_order")
local checkOrder = ____block_order.checkOrder
local ____from_block = require("resty.ax.nginx.conf.from_block")
local adoptFromBlock = ____from_block.adoptFromBlock
local ____locate = require("resty.ax.nginx.conf.locate")
local locate = ____locate.locate
local thisProcess = ____locate.thisProcess
local ____ngx_upstream = require("resty.ax.nginx.conf.ngx_upstream")
local apiServers = ____ngx_upstream.apiServers
local apiUpstreams = ____ngx_upstream.apiUpstreams
local upstreamApi = ____ngx_upstream.upstreamApi
local ____upstreams = require("resty.ax.nginx.conf.upstreams")
local readUpstreams = ____upstreams.readUpstreams
function openSource(conf_path)
    local location = locate(thisProcess, conf_path)
    local conf, err = readUpstreams(location.path)
    return {
        location = location,
        given = conf_path ~= nil,
        conf = conf,
        err = err,
        warned = false
    }
end
function adoptFrom(source, upstream)
    local api = upstreamApi()
    if api ~= nil and (source.conf ~= nil or not source.given) then
        return askApi(api, source, upstream)
    end
    if source.conf == nil then
        return nil, unreadable(source, upstream)
    end
    local block = source.conf.by_name[string.lower(upstream)]
    if block == nil then
        return nil, unknownInFile(source.conf, source.location, upstream)
    end
    if #block.servers == 0 then
        return nil, emptyBlock(
            upstream,
            (block.file .. ":") .. tostring(block.line)
        )
    end
    return adoptFromBlock(block)
end
function askApi(api, source, upstream)
    local servers = apiServers(api, upstream)
    local ____opt_3 = source.conf
    local block = ____opt_3 and ____opt_3.by_name[string.lower(upstream)]
    local absent = (servers and #servers) == 0 and source.conf ~= nil and block == nil
    if servers == nil or absent then
        return nil, unknownUpstream(
            upstream,
            "nginx's configuration",
            apiUpstreams(api)
        )
    end
    if #servers == 0 then
        return nil, emptyBlock(upstream, "says ngx.upstream")
    end
    local adoption, err = adoptFromApi(upstream, servers, block)
    if adoption ~= nil and source.conf == nil and not source.warned then
        source.warned = true
        local ____adoption_warnings_7 = adoption.warnings
        ____adoption_warnings_7[#____adoption_warnings_7 + 1] = (("max_conns of server lines cannot be seen: " .. tostring(source.err)) .. "; ") .. lookedFor(source.location)
    elseif adoption ~= nil and source.conf ~= nil and block == nil then
        local text = (("max_conns of the server lines cannot be seen: no upstream block " .. quote(upstream)) .. " in ") .. source.conf.path
        local ____adoption_warnings_8 = adoption.warnings
        ____adoption_warnings_8[#____adoption_warnings_8 + 1] = (text .. "; ") .. lookedFor(source.location)
    end
    return adoption, err
end
function lookedFor(location)
    return ("the file was found by: " .. location.looked) .. "; if nginx uses another one, set \"nginx_conf\" to its path"
end
function unreadable(source, upstream)
    local text = (("upstream " .. quote(upstream)) .. ": nginx's configuration cannot be read: ") .. tostring(source.err)
    return (((text .. "; ") .. lookedFor(source.location)) .. ", or ") .. LIST_THEM
end
function emptyBlock(upstream, where)
    return (((("upstream " .. quote(upstream)) .. ": its block has no server lines (") .. where) .. "); write some, or ") .. LIST_THEM
end
function unknownInFile(conf, location, upstream)
    local names = {}
    for ____, block in ipairs(conf.upstreams) do
        names[#names + 1] = block.name
    end
    local others = conf.files - 1
    local includes = others == 0 and "" or (((" and the " .. tostring(others)) .. " other ") .. (others == 1 and "file" or "files")) .. " it includes"
    return (unknownUpstream(upstream, conf.path .. includes, names) .. "; ") .. lookedFor(location)
end
function unknownUpstream(upstream, where, names)
    local text = (("no upstream block " .. quote(upstream)) .. " in the http block of ") .. where
    if #names == 0 then
        return text .. ": there is no upstream block at all"
    end
    local nearest = suggest(upstream, names)
    local hint = nearest == nil and "" or (" (did you mean " .. quote(nearest)) .. "?)"
    local list = ""
    do
        local i = 0
        while i < #names and i < MAX_LISTED do
            list = list .. (i > 0 and ", " or "") .. quote(names[i + 1])
            i = i + 1
        end
    end
    if #names > MAX_LISTED then
        list = list .. (" and " .. tostring(#names - MAX_LISTED)) .. " more"
    end
    return ((((text .. hint) .. "; there ") .. (#names == 1 and "is" or "are")) .. " ") .. list
end
MAX_LISTED = 20
LIST_THEM = "list the nodes under \"nodes\""
--- The servers of an upstream block: from ngx.upstream where nginx has it (with what it cannot tell
-- from the configuration file, if that can be read), else from nginx's configuration.
-- 
-- Init phase: reads files and resolves names.
-- 
-- @param upstream name of the block, without regard to case
-- @param confPath nginx's main configuration file, relative to its prefix; found by itself if not given
-- @returns the servers, or undefined and an error text that says what was looked for, where, and
-- what to do
function ____exports.adopt(upstream, confPath)
    return adoptFrom(
        openSource(confPath),
        upstream
    )
end
---
-- @returns a reader that has read nothing yet. Init phase.
function ____exports.newConfReader()
    local sources = {}
    local function sourceOf(conf_path)
        local source = sources[conf_path or ""] or openSource(conf_path)
        sources[conf_path or ""] = source
        return source
    end
    return {
        adopt = function(upstream, confPath) return adoptFrom(
            sourceOf(confPath),
            upstream
        ) end,
        checkOrder = function(upstream, conf_path)
            local ____opt_0 = sourceOf(conf_path).conf
            local block = ____opt_0 and ____opt_0.by_name[string.lower(upstream)]
            local ____temp_2
            if block == nil then
                ____temp_2 = nil
            else
                ____temp_2 = checkOrder(block)
            end
            return ____temp_2
        end
    }
end
---
-- @returns a function like `adopt` that reads each configuration only once
function ____exports.newAdopt()
    return ____exports.newConfReader().adopt
end
return ____exports
