local pcall = pcall
local ____exports = {}
local ____api = require("resty.ax.control.api")
local route = ____api.route
local ____errors = require("resty.ax.control.errors")
local apiError = ____errors.apiError
local ____show = require("resty.ax.core.config.show")
local isTable = ____show.isTable
local quote = ____show.quote
local showValue = ____show.showValue
local ____suggest = require("resty.ax.core.config.suggest")
local suggest = ____suggest.suggest
local ____worker = require("resty.ax.dataplane.worker")
local process = ____worker.process
local ____body = require("resty.ax.nginx.body")
local contentType = ____body.contentType
local readBody = ____body.readBody
local ____clock = require("resty.ax.nginx.clock")
local nowMs = ____clock.nowMs
local ____json = require("resty.ax.nginx.json")
local decode = ____json.decode
local encode = ____json.encode
local ____log = require("resty.ax.nginx.log")
local logNotice = ____log.logNotice
local ____process = require("resty.ax.nginx.process")
local processAlive = ____process.processAlive
local ____response = require("resty.ax.nginx.response")
local hasArgument = ____response.hasArgument
local queryArguments = ____response.queryArguments
local remoteUser = ____response.remoteUser
local requestMethod = ____response.requestMethod
local requestPath = ____response.requestPath
local respondJson = ____response.respondJson
local ____codes = require("resty.ax.observe.codes")
local FAULT_CODES = ____codes.FAULT_CODES
local ____document = require("resty.ax.observe.document")
local documentText = ____document.documentText
local ____faults = require("resty.ax.observe.faults")
local readFaults = ____faults.readFaults
local ____faults = require("resty.ax.phases.faults")
local fault = ____faults.fault
--- Many times the longest change that is valid.
local BODY_MAX_BYTES = 16384
local function decodeOrNothing(text)
    local value = decode(text)
    return value
end
--- The body of a change.
local function jsonBody()
    if contentType() ~= "application/json" then
        return nil, apiError("UnsupportedMediaType", "the header Content-Type: application/json is needed")
    end
    local body = readBody(BODY_MAX_BYTES)
    if body.too_large then
        return nil, apiError(
            "BodyTooLarge",
            ("the body is longer than the " .. tostring(BODY_MAX_BYTES)) .. " bytes allowed"
        )
    end
    if body.text == nil then
        return nil, apiError("BodyUnreadable", body.err or "the body is unreadable")
    end
    local value, err = decode(body.text)
    if value == nil then
        return nil, apiError("BodyNotJson", "the body is not JSON: " .. (err or "nothing"))
    end
    return value, nil
end
--- The API may be mounted anywhere: what counts is what follows its version.
local function splitPath(uri)
    local mount, path = string.match(uri, "^(.-)/v1(/upstreams.*)$")
    if mount ~= nil and path ~= nil then
        return mount, path
    end
    local guess = string.match(uri, "^(/[^/]+)/")
    return guess or "", uri
end
local function answer(worker, read_only)
    local mount, path = splitPath(requestPath())
    local store = worker.store
    return route(
        requestMethod(),
        path,
        {
            config = worker.config,
            store = store,
            encode = encode,
            decode = decodeOrNothing,
            processAlive = processAlive,
            pid = worker.exchange.pid,
            now_ms = nowMs(),
            clock = nowMs,
            capacity_bytes = store.capacityBytes(),
            free_bytes = store.freeBytes(),
            faults = readFaults(worker.faults, store, FAULT_CODES, decodeOrNothing),
            read_only = read_only,
            mount = mount,
            user = remoteUser(),
            body = jsonBody,
            args = queryArguments
        }
    )
end
---
-- @returns whether the location only shows; throws on anything else than the options there are
local function readOptions(options)
    if options == nil then
        return false
    end
    if not isTable(options) then
        error(
            ("api(" .. showValue(options)) .. "): a table of options is needed, like { read_only = true }",
            0
        )
    end
    for name in pairs(options) do
        if name ~= "read_only" then
            local nearest = suggest(name, {"read_only"})
            error(
                ("api(): no option " .. quote(name)) .. (nearest == nil and "" or ("; did you mean \"" .. nearest) .. "\"?"),
                0
            )
        end
    end
    local value = options.read_only
    if value ~= nil and type(value) ~= "boolean" then
        error(
            ("api(): read_only is " .. showValue(value)) .. "; true or false is needed",
            0
        )
    end
    return value == true
end
local function respond(response)
    local headers = response.allow == nil and ({}) or ({Allow = response.allow})
    respondJson(
        response.status,
        documentText(
            response.body,
            hasArgument("pretty")
        ),
        headers
    )
    if response.notice ~= nil then
        logNotice(response.notice)
    end
end
local function serve(options)
    local worker = process.worker
    local read_only = readOptions(options)
    respond(worker == nil and apiError("NotInitialised", "init() and init_worker() have not run in this worker: see the README's nginx.conf") or answer(worker, read_only))
end
--- Serves the admin API: GET …/v1/upstreams and below, PATCH …/v1/upstreams/{name}/nodes/{id}. docs/api.md.
-- 
-- content_by_lua phase. Restrict who may reach the location: whoever does may take nodes out.
-- 
-- @param options read_only = true: nothing can be changed through this location
function ____exports.api(options)
    local ok, err = pcall(serve, options)
    if ok then
        return
    end
    fault(
        "api",
        tostring(err),
        nowMs()
    )
    respond(apiError("InternalError", "the API failed; the error log has the reason"))
end
return ____exports
