local math_abs = math.abs
local ____exports = {}
local ____values = require("resty.ax.core.values")
local asCount = ____values.asCount
local asNumber = ____values.asNumber
local asRecord = ____values.asRecord
local ____wire = require("resty.ax.core.wire")
local WORKER_DEAD_MS = ____wire.WORKER_DEAD_MS
local ____worker_keys = require("resty.ax.core.worker_keys")
local lastSlot = ____worker_keys.lastSlot
local workerKey = ____worker_keys.workerKey
local ____document = require("resty.ax.observe.document")
local jsonList = ____document.jsonList
local ____status_deps = require("resty.ax.observe.status_deps")
local decodeObject = ____status_deps.decodeObject
local function total(record)
    local sum = 0
    for ____, nodes in pairs(asRecord(record.in_flight) or ({})) do
        for ____, count in pairs(asRecord(nodes) or ({})) do
            sum = sum + asCount(count)
        end
    end
    return sum
end
--- The live workers, those of an older configuration that still serve requests included.
function ____exports.workerStatus(deps, now_ms)
    local workers = {}
    local slots = lastSlot(deps.store)
    do
        local slot = 1
        while slot <= slots do
            local record = decodeObject(
                deps,
                workerKey(slot)
            )
            if record ~= nil and asNumber(record.pid) ~= nil and asNumber(record.at_ms) ~= nil then
                local exiting = record.exiting == true
                local ____exiting_0
                if exiting then
                    ____exiting_0 = deps.processAlive(record.pid)
                else
                    ____exiting_0 = math_abs(now_ms - record.at_ms) < WORKER_DEAD_MS
                end
                local alive = ____exiting_0
                if alive then
                    workers[#workers + 1] = {
                        pid = record.pid,
                        age_ms = now_ms - record.at_ms,
                        exiting = exiting,
                        in_flight = total(record)
                    }
                end
            end
            slot = slot + 1
        end
    end
    return jsonList(workers)
end
return ____exports
