local ____exports = {}
local forgetSlots, takeWorker, eachNode, addInFlight, addOldest
local ____values = require("resty.ax.core.values")
local asCount = ____values.asCount
local asNumber = ____values.asNumber
local asRecord = ____values.asRecord
local ____wire = require("resty.ax.core.wire")
local WORKER_DEAD_MS = ____wire.WORKER_DEAD_MS
local ____worker_keys = require("resty.ax.core.worker_keys")
local doorKey = ____worker_keys.doorKey
local lastSlot = ____worker_keys.lastSlot
local lineKey = ____worker_keys.lineKey
local setLastSlot = ____worker_keys.setLastSlot
local workerKey = ____worker_keys.workerKey
function forgetSlots(collector, last_taken, last)
    local store = collector.deps.store
    setLastSlot(store, last_taken)
    do
        local slot = last_taken + 1
        while slot <= last do
            store.remove(doorKey(slot))
            do
                local i = 0
                while i < #collector.upstreams do
                    store.remove(lineKey(collector.upstreams[i + 1].config.name, slot))
                    i = i + 1
                end
            end
            slot = slot + 1
        end
    end
end
function takeWorker(collector, key, now_ms)
    local ____collector_deps_0 = collector.deps
    local store = ____collector_deps_0.store
    local decode = ____collector_deps_0.decode
    local onWarning = ____collector_deps_0.onWarning
    local processAlive = ____collector_deps_0.processAlive
    local text = store.get(key)
    if text == nil then
        return false
    end
    local record = asRecord(decode(tostring(text)))
    local pid = asNumber(record and record.pid)
    local at_ms = asNumber(record and record.at_ms)
    if record == nil or pid == nil or at_ms == nil then
        onWarning("store_corrupt", key .. " is not a worker's record; removed")
        store.remove(key)
        return false
    end
    local old = now_ms - at_ms > WORKER_DEAD_MS
    if (old or record.exiting == true) and not processAlive(pid) then
        store.remove(key)
        return false
    end
    if old and record.exiting ~= true then
        return true
    end
    addInFlight(
        collector,
        asRecord(record.in_flight)
    )
    addOldest(
        collector,
        asRecord(record.oldest_ms),
        now_ms
    )
    return true
end
function eachNode(collector, upstreams, visit)
    for name in pairs(upstreams or ({})) do
        local upstream = collector.by_name[name]
        local nodes = asRecord(upstreams and upstreams[name])
        if upstream ~= nil and nodes ~= nil then
            for id in pairs(nodes) do
                local node = upstream.by_id[id]
                if node ~= nil then
                    visit(
                        node,
                        asCount(nodes[id]),
                        upstream
                    )
                end
            end
        end
    end
end
function addInFlight(collector, upstreams)
    eachNode(
        collector,
        upstreams,
        function(node, count, upstream)
            local ____node_detail_7, ____in_flight_8 = node.detail, "in_flight"
            ____node_detail_7[____in_flight_8] = ____node_detail_7[____in_flight_8] + count
            upstream.active = true
        end
    )
end
function addOldest(collector, upstreams, now_ms)
    eachNode(
        collector,
        upstreams,
        function(node, start_ms)
            local is_older = node.oldest_start_ms == 0 or start_ms < node.oldest_start_ms
            if is_older and start_ms > 0 and start_ms <= now_ms then
                node.oldest_start_ms = start_ms
            end
        end
    )
end
--- Adds up the requests in flight of all workers that live. A worker's record is dead when it is old;
-- one that is shutting down has no timers and is judged by its process. Records of ended processes
-- are removed: nobody else would.
function ____exports.sumInFlight(collector, now_ms)
    do
        local i = 0
        while i < #collector.upstreams do
            local nodes = collector.upstreams[i + 1].nodes
            do
                local j = 0
                while j < #nodes do
                    nodes[j + 1].detail.in_flight = 0
                    nodes[j + 1].oldest_start_ms = 0
                    j = j + 1
                end
            end
            i = i + 1
        end
    end
    local last = lastSlot(collector.deps.store)
    local last_taken = 0
    do
        local slot = 1
        while slot <= last do
            if takeWorker(
                collector,
                workerKey(slot),
                now_ms
            ) then
                last_taken = slot
            end
            slot = slot + 1
        end
    end
    if last_taken < last then
        forgetSlots(collector, last_taken, last)
    end
end
return ____exports
