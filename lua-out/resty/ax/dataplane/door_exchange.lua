local ____exports = {}
local ____histogram = require("resty.ax.core.histogram")
local toSparse = ____histogram.toSparse
local ____priority = require("resty.ax.core.priority")
local LOWEST_PRIORITY = ____priority.LOWEST_PRIORITY
local ____worker_keys = require("resty.ax.core.worker_keys")
local doorKey = ____worker_keys.doorKey
local ____door = require("resty.ax.dataplane.door")
local turnWaits = ____door.turnWaits
local function sendCount(store, door, key, count)
    local unsent = count - (door.sent[key] or 0)
    if unsent > 0 and store.incr(key, unsent) ~= nil then
        door.sent[key] = count
    end
end
local function reportOf(door)
    local line = door.line
    if line == nil then
        return nil
    end
    local report = {waiting = {}, admitted = {}, waits = {}}
    do
        local k = 0
        while k < LOWEST_PRIORITY do
            report.waiting[k + 1] = line.queue.counts[k + 1]
            report.admitted[k + 1] = door.waits.admitted[k + 1] + door.waits_before.admitted[k + 1]
            report.waits[2 * k + 1] = toSparse(door.waits.hist[k + 1])
            report.waits[2 * k + 1 + 1] = toSparse(door.waits_before.hist[k + 1])
            k = k + 1
        end
    end
    return report
end
--- Sends counts, and this worker's report. Flush.
function ____exports.publishDoors(exchange, upstreams, now_ms)
    local store = exchange.store
    local reports
    for ____, upstream in ipairs(upstreams) do
        local door = upstream.door
        local name = upstream.config.name
        for reason, count in pairs(door.refused) do
            sendCount(store, door, (("refused:" .. reason) .. ":") .. name, count or 0)
        end
        sendCount(store, door, "classes:unknown:" .. name, door.unknown_classes)
        sendCount(store, door, "classes:capped:" .. name, door.capped_classes)
        turnWaits(door, now_ms)
        local report = reportOf(door)
        if report ~= nil then
            if reports == nil then
                reports = {}
            end
            reports[name] = report
        end
    end
    if reports == nil or exchange.slot <= 0 then
        return
    end
    local record = {pid = exchange.pid, at_ms = now_ms, upstreams = reports}
    local text = exchange.encode(record)
    if text ~= nil then
        store.set(
            doorKey(exchange.slot),
            text
        )
    end
end
return ____exports
