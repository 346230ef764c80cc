local ____exports = {}
local ____api = require("resty.ax.control.api")
local apiError = ____api.apiError
local route = ____api.route
local ____worker = require("resty.ax.dataplane.worker")
local process = ____worker.process
local ____clock = require("resty.ax.nginx.clock")
local nowMs = ____clock.nowMs
local ____json = require("resty.ax.nginx.json")
local decode = ____json.decode
local encodeDocument = ____json.encodeDocument
local jsonArray = ____json.jsonArray
local ____process = require("resty.ax.nginx.process")
local processAlive = ____process.processAlive
local ____response = require("resty.ax.nginx.response")
local requestMethod = ____response.requestMethod
local requestPath = ____response.requestPath
local respondJson = ____response.respondJson
local ____codes = require("resty.ax.observe.codes")
local FAULT_CODES = ____codes.FAULT_CODES
local ____faults = require("resty.ax.observe.faults")
local readFaults = ____faults.readFaults
local ____faults = require("resty.ax.phases.faults")
local fault = ____faults.fault
local function decodeOrNothing(text)
    local value = decode(text)
    return value
end
local function answer(worker)
    local uri = requestPath()
    local path = string.match(uri, "/v1(/upstreams/?[^/]*/?)$")
    local store = worker.store
    return route(
        requestMethod(),
        path or uri,
        {
            config = worker.config,
            store = store,
            decode = decodeOrNothing,
            array = jsonArray,
            processAlive = processAlive,
            pid = worker.exchange.pid,
            now_ms = nowMs(),
            capacity_bytes = store.capacityBytes(),
            free_bytes = store.freeBytes(),
            faults = readFaults(worker.faults, store, FAULT_CODES, decodeOrNothing)
        }
    )
end
local function serve()
    local worker = process.worker
    local response = worker == nil and apiError(503, "NotInitialised", "init() and init_worker() have not run in this worker: see the README's nginx.conf") or answer(worker)
    respondJson(
        response.status,
        encodeDocument(response.body) or "{}",
        response.allow == nil and ({}) or ({Allow = response.allow})
    )
end
--- Serves the status API: GET …/v1/upstreams and …/v1/upstreams/{name}.
-- 
-- content_by_lua phase. Restrict who may reach the location.
function ____exports.api()
    local ok, err = pcall(serve)
    if ok then
        return
    end
    fault(
        "api",
        tostring(err),
        nowMs()
    )
    local failed = apiError(500, "InternalError", "the API failed; the error log has the reason")
    respondJson(
        failed.status,
        encodeDocument(failed.body) or "{}",
        {}
    )
end
return ____exports
