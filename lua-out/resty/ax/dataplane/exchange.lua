local ____exports = {}
local ____tallies = require("resty.ax.core.tallies")
local sendTallies = ____tallies.sendTallies
local ____wire = require("resty.ax.core.wire")
local DELTAS_MAX = ____wire.DELTAS_MAX
local ____counters = require("resty.ax.dataplane.counters")
local takeDeltas = ____counters.takeDeltas
local ____retries = require("resty.ax.dataplane.retries")
local weighRetries = ____retries.weighRetries
local ____worker_record = require("resty.ax.dataplane.worker_record")
local publishRecord = ____worker_record.publishRecord
--- Nodes in one entry of `deltas`: the collector decodes an entry in one go, and must be done with it in a millisecond.
local NODES_PER_DELTA = 100
---
-- @returns false: no use to go on, nothing more will fit
local function pushDelta(exchange, changed, now_ms)
    local delta = {pid = exchange.pid, at_ms = now_ms, upstreams = changed}
    local text = exchange.encode(delta)
    if text == nil then
        exchange.onFault("store_corrupt", "this worker's counters cannot be written as JSON: the last ones are lost")
        return true
    end
    local length = exchange.store.push("deltas", text)
    if length == nil then
        exchange.onFault("store_full", "no room for this worker's counters: the last ~100 ms are not counted")
        return false
    end
    if length > DELTAS_MAX then
        exchange.store.pop("deltas")
    end
    return true
end
--- Small upstreams share an entry, large ones have several.
local function publishDeltas(exchange, upstreams, now_ms)
    local changed
    local nodes = 0
    for ____, ____value in ipairs(upstreams) do
        local counters = ____value.counters
        local pool = ____value.pool
        while counters.dirty_count > 0 do
            local before = counters.dirty_count
            local deltas = takeDeltas(counters, pool.ids, NODES_PER_DELTA - nodes)
            if deltas == nil then
                break
            end
            if changed == nil then
                changed = {}
            end
            changed[pool.name] = deltas
            nodes = nodes + (before - counters.dirty_count)
            if nodes >= NODES_PER_DELTA then
                if not pushDelta(exchange, changed, now_ms) then
                    return
                end
                changed = nil
                nodes = 0
            end
        end
    end
    if changed ~= nil then
        pushDelta(exchange, changed, now_ms)
    end
end
--- Adds what is new to the shared counts of requests without a key.
local function publishKeyless(exchange, upstreams)
    for ____, upstream in ipairs(upstreams) do
        local unsent = upstream.keyless_total - upstream.keyless_sent
        if unsent > 0 and exchange.store.incr("keyless:" .. upstream.pool.name, unsent) ~= nil then
            upstream.keyless_sent = upstream.keyless_sent + unsent
        end
    end
end
--- Flush, outgoing half. Also in the log phase of a worker that is shutting down and has no timers.
function ____exports.publish(exchange, upstreams, exiting, now_ms)
    publishRecord(exchange, upstreams, exiting, now_ms)
    for ____, upstream in ipairs(upstreams) do
        weighRetries(upstream, now_ms)
    end
    publishDeltas(exchange, upstreams, now_ms)
    publishKeyless(exchange, upstreams)
    for ____, upstream in ipairs(upstreams) do
        sendTallies(upstream.tallies, exchange.store, upstream.pool.name)
    end
end
return ____exports
