local math_floor = math.floor
-- Lua Library inline imports
local function __TS__ObjectAssign(target, ...)
    local sources = {...}
    for i = 1, #sources do
        local source = sources[i]
        if type(source) == "table" then
            for key in pairs(source) do
                target[key] = source[key]
            end
        end
    end
    return target
end
-- End of Lua Library inline imports
local ____exports = {}
local carryOut
local ____suggest = require("resty.ax.core.config.suggest")
local suggest = ____suggest.suggest
local ____show = require("resty.ax.core.config.show")
local quote = ____show.quote
local ____operator = require("resty.ax.core.operator")
local willText = ____operator.willText
local ____document = require("resty.ax.observe.document")
local jsonList = ____document.jsonList
local ____node_status = require("resty.ax.observe.node_status")
local nodeStatus = ____node_status.nodeStatus
local ____status = require("resty.ax.observe.status")
local upstreamStatus = ____status.upstreamStatus
local ____worker_status = require("resty.ax.observe.worker_status")
local workerStatus = ____worker_status.workerStatus
local ____wills = require("resty.ax.observe.wills")
local readWill = ____wills.readWill
local ____backlog = require("resty.ax.control.backlog")
local readBacklogChange = ____backlog.readBacklogChange
local writeBacklog = ____backlog.writeBacklog
local ____errors = require("resty.ax.control.errors")
local apiError = ____errors.apiError
local ____events = require("resty.ax.control.events")
local showEvents = ____events.showEvents
local ____patch = require("resty.ax.control.patch")
local applyChange = ____patch.applyChange
local readChange = ____patch.readChange
local ____wills = require("resty.ax.control.wills")
local writeWill = ____wills.writeWill
function carryOut(deps, upstream, node, wanted)
    local now_ms = deps.clock()
    local before = readWill(
        deps.store,
        deps.decode,
        upstream.name,
        node.id,
        now_ms
    )
    local after = applyChange(before, wanted, now_ms)
    if before ~= after and not writeWill(deps, upstream.name, node.id, after) then
        return apiError("StoreFull", "no room in the shared dict: nothing was changed; enlarge lua_shared_dict")
    end
    local answer = {
        status = 200,
        body = nodeStatus(deps, upstream, node, now_ms)
    }
    if (before and before.kind) ~= (after and after.kind) then
        local text = after == nil and "no longer what the operator said" or willText(after)
        answer.notice = (((("upstream \"" .. upstream.name) .. "\", node \"") .. node.id) .. "\": ") .. text
    end
    return answer
end
local function collectorOf(upstreams)
    for ____, upstream in ipairs(upstreams) do
        if upstream.collector_pid ~= nil then
            return {pid = upstream.collector_pid, generation = upstream.generation, data_age_ms = upstream.data_age_ms}
        end
    end
    return {note = "no collector has reported yet"}
end
local function faultsOf(deps)
    local shown = {}
    for code, fault in pairs(deps.faults) do
        shown[code] = {
            count = fault.count,
            last_message = fault.last_message,
            last_age_s = math_floor(deps.now_ms - fault.last_at_ms) / 1000
        }
    end
    return shown
end
local function upstreamNames(config)
    local names = {}
    for name in pairs(config.upstreams) do
        names[#names + 1] = name
    end
    table.sort(names)
    return names
end
local function everything(deps)
    local upstreams = {}
    for ____, name in ipairs(upstreamNames(deps.config)) do
        upstreams[#upstreams + 1] = upstreamStatus(deps, deps.config.upstreams[name], deps.now_ms)
    end
    return {
        status = 200,
        body = {
            answered_by_pid = deps.pid,
            collector = collectorOf(upstreams),
            workers = workerStatus(deps, deps.now_ms),
            shared_dict = {name = deps.config.shared_dict, capacity_bytes = deps.capacity_bytes, free_page_bytes = deps.free_bytes},
            faults = faultsOf(deps),
            upstreams = upstreams
        }
    }
end
--- nginx makes "//" in a path "/": an id with both is still found.
local function merged(id)
    local text = string.gsub(id, "/+", "/")
    return text
end
local function findNode(upstream, id)
    for ____, node in ipairs(upstream.nodes) do
        if node.id == id then
            return node
        end
    end
    for ____, node in ipairs(upstream.nodes) do
        if merged(node.id) == id then
            return node
        end
    end
    return nil
end
local function nodeNotFound(upstream, id)
    local ids = {}
    for ____, node in ipairs(upstream.nodes) do
        ids[#ids + 1] = node.id
    end
    local nearest = suggest(id, ids)
    local hint = nearest == nil and "" or ("; did you mean " .. quote(nearest)) .. "?"
    local text = ((("upstream \"" .. upstream.name) .. "\" has no node ") .. quote(id)) .. hint
    return apiError(
        "NodeNotFound",
        ((text .. "; ids are names, or addresses as configured, like ") .. quote(ids[1])) .. " (in a path, \"/\" may be written %2F)"
    )
end
--- Reads, decides and writes without a pause in between: nothing else runs in this worker meanwhile.
local function change(deps, upstream, node)
    local body, unreadable = deps.body()
    if unreadable ~= nil then
        return unreadable
    end
    local wanted, wrong = readChange(body)
    if wanted == nil then
        return wrong
    end
    if wanted.by == nil then
        wanted.by = deps.user
    end
    return carryOut(deps, upstream, node, wanted)
end
local function nodeEndpoint(upstream, node)
    return {
        get = function(deps) return {
            status = 200,
            body = nodeStatus(deps, upstream, node, deps.now_ms)
        } end,
        patch = function(deps) return change(deps, upstream, node) end
    }
end
local function events(deps, upstream)
    local shown = showEvents(
        deps,
        upstream,
        function(id) return findNode(upstream, id) ~= nil end
    )
    return shown.unknown_node ~= nil and nodeNotFound(upstream, shown.unknown_node) or shown
end
--- What is to become of the backlog; the collector does it.
local function changeUpstream(deps, upstream)
    local body, unreadable = deps.body()
    if unreadable ~= nil then
        return unreadable
    end
    local wanted, wrong = readBacklogChange(upstream, body)
    if wanted == nil then
        return wrong
    end
    if not writeBacklog(deps, upstream.name, wanted) then
        return apiError("StoreFull", "no room in the shared dict: nothing was changed; enlarge lua_shared_dict")
    end
    local by = deps.user == nil and "" or (" (" .. deps.user) .. ")"
    local text = wanted.on and "its backlog is to be drained" or "its backlog is to be drained no longer"
    return {
        status = 200,
        body = upstreamStatus(
            deps,
            upstream,
            deps.clock()
        ),
        notice = (((("upstream \"" .. upstream.name) .. "\": ") .. text) .. ", says the operator") .. by
    }
end
local function underUpstream(upstream, rest)
    if rest == "" or rest == "/" then
        return {
            get = function(deps) return {
                status = 200,
                body = upstreamStatus(deps, upstream, deps.now_ms)
            } end,
            patch = function(deps) return changeUpstream(deps, upstream) end
        }
    end
    if rest == "/nodes" or rest == "/nodes/" then
        return {get = function(deps) return {
            status = 200,
            body = jsonList(upstreamStatus(deps, upstream, deps.now_ms).nodes)
        } end}
    end
    if rest == "/events" or rest == "/events/" then
        return {get = function(deps) return events(deps, upstream) end}
    end
    local id = string.match(rest, "^/nodes/(.+)$")
    if id == nil then
        return nil
    end
    local node = findNode(upstream, id) or findNode(upstream, (string.gsub(id, "/$", "")))
    return node == nil and nodeNotFound(upstream, id) or nodeEndpoint(upstream, node)
end
local function isResponse(found)
    return found.status ~= nil
end
local function find(deps, path)
    if path == "/upstreams" or path == "/upstreams/" then
        return {get = everything}
    end
    local name, rest = string.match(path, "^/upstreams/([^/]+)(.*)$")
    if name == nil then
        return nil
    end
    local upstream = deps.config.upstreams[name]
    if upstream ~= nil then
        return underUpstream(upstream, rest or "")
    end
    local nearest = suggest(
        name,
        upstreamNames(deps.config)
    )
    local hint = nearest == nil and "" or ("; did you mean " .. quote(nearest)) .. "?"
    return apiError(
        "UpstreamNotFound",
        (("upstream " .. quote(name)) .. " is not configured") .. hint
    )
end
---
-- @param method HTTP method
-- @param path what follows the API's version prefix: "/upstreams", "/upstreams/backend/nodes/10.0.0.1:80"; decoded
function ____exports.route(method, path, deps)
    local found = find(deps, path)
    if found == nil then
        local base = deps.mount .. "/v1/upstreams"
        local paths = ((((((((base .. ", ") .. base) .. "/{name}, ") .. base) .. "/{name}/events, ") .. base) .. "/{name}/nodes or ") .. base) .. "/{name}/nodes/{id}"
        return apiError(
            "PathNotFound",
            (quote(path) .. " is not a path of this API; try ") .. paths
        )
    end
    if isResponse(found) then
        return found
    end
    if method == "GET" or method == "HEAD" then
        return found.get(deps)
    end
    local allow = (found.patch == nil or deps.read_only) and "GET, HEAD" or "GET, HEAD, PATCH"
    if method == "PATCH" and found.patch ~= nil then
        if not deps.read_only then
            return found.patch(deps)
        end
        return __TS__ObjectAssign(
            {},
            apiError("MethodDisabled", "this location is read_only: it shows, and changes nothing"),
            {allow = allow}
        )
    end
    return __TS__ObjectAssign(
        {},
        apiError("MethodNotAllowed", ((method .. " is not allowed here; ") .. allow) .. " are"),
        {allow = allow}
    )
end
return ____exports
