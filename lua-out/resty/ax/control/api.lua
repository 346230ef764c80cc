local ____exports = {}
local ____status = require("resty.ax.observe.status")
local upstreamStatus = ____status.upstreamStatus
local workerStatus = ____status.workerStatus
--- An error document: status, stable code, text for people, where the code is explained.
function ____exports.apiError(status, code, text)
    return {
        status = status,
        body = {error = {
            status = status,
            code = code,
            text = text,
            href = "docs/api.md#" .. string.lower(code)
        }}
    }
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
            last_age_s = math.floor(deps.now_ms - fault.last_at_ms) / 1000
        }
    end
    return shown
end
local function everything(deps)
    local upstreams = {}
    local names = {}
    for name in pairs(deps.config.upstreams) do
        names[#names + 1] = name
    end
    table.sort(names)
    for ____, name in ipairs(names) do
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
---
-- @param method HTTP method
-- @param path what follows the API's version prefix: "/upstreams", "/upstreams/backend"
function ____exports.route(method, path, deps)
    local name = string.match(path, "^/upstreams/([^/]+)/?$")
    local list = path == "/upstreams" or path == "/upstreams/"
    if not list and name == nil then
        return ____exports.apiError(404, "PathNotFound", ("\"" .. path) .. "\" is not a path of this API; try /upstreams or /upstreams/{name}")
    end
    if method ~= "GET" and method ~= "HEAD" then
        local answer = ____exports.apiError(405, "MethodNotAllowed", method .. " is not allowed here; GET and HEAD are")
        answer.allow = "GET, HEAD"
        return answer
    end
    if name == nil then
        return everything(deps)
    end
    local config = deps.config.upstreams[name]
    if config == nil then
        return ____exports.apiError(404, "UpstreamNotFound", ("upstream \"" .. name) .. "\" is not configured")
    end
    return {
        status = 200,
        body = upstreamStatus(deps, config, deps.now_ms)
    }
end
return ____exports
