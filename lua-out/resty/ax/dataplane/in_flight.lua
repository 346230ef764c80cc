local math_max = math.max
local ____exports = {}
local ____cost = require("resty.ax.core.cost")
local weigh = ____cost.weigh
local ____slots = require("resty.ax.dataplane.slots")
local freeSlot = ____slots.freeSlot
local ____trials = require("resty.ax.dataplane.trials")
local giveTrialBack = ____trials.giveTrialBack
--- Gives the request's slots back, if it has any: also those of a pick that led to no try.
function ____exports.freeSlots(record)
    local node = record.slot_node
    if node < 0 then
        return
    end
    local slots = record.slot_upstream.slots
    record.slot_node = -1
    freeSlot(slots, node)
    freeSlot(slots, slots.n)
end
--- The same for a try that is accounted right away (outcome.ts), which weighs the node.
function ____exports.endTryUnweighed(record)
    ____exports.freeSlots(record)
    local node = record.node
    local upstream = record.upstream
    if node < 0 or upstream == nil then
        return
    end
    local prev = record.prev
    local next = record.next
    if record.reserved and record.trial > 0 then
        giveTrialBack(upstream, node, record.trial)
    end
    prev.next = next
    next.prev = prev
    record.prev = nil
    record.next = nil
    record.node = -1
    record.reserved = false
    local pool = upstream.pool
    local ____pool_in_flight_2, ____temp_3 = pool.in_flight, node + 1
    ____pool_in_flight_2[____temp_3] = ____pool_in_flight_2[____temp_3] - 1
    if record.is_long then
        local ____pool_long_in_flight_4, ____temp_5 = pool.long_in_flight, node + 1
        ____pool_long_in_flight_4[____temp_5] = ____pool_long_in_flight_4[____temp_5] - 1
    end
    pool.oldest_start_ms[node + 1] = upstream.flights[node + 1].next.start_ms
end
--- Puts the request at the end of its node's list: the latest one.
local function append(upstream, record, node, now_ms)
    local pool = upstream.pool
    local head = upstream.flights[node + 1]
    local last = head.prev
    record.start_ms = now_ms
    record.prev = last
    record.next = head
    last.next = record
    head.prev = record
    pool.oldest_start_ms[node + 1] = head.next.start_ms
    pool.last_pick_ms[node + 1] = now_ms
    weigh(pool, node)
end
--- The request is sent to the node where access() kept a place for it (reserve.ts); it counts in flight already.
function ____exports.beginReserved(upstream, record, now_ms)
    record.reserved = false
    append(upstream, record, record.node, now_ms)
end
--- The request is sent to the node now. Any earlier try must have been ended.
function ____exports.beginTry(upstream, record, node, now_ms)
    record.upstream = upstream
    record.node = node
    record.is_long = false
    record.reserved = false
    local ____upstream_pool_in_flight_0, ____temp_1 = upstream.pool.in_flight, node + 1
    ____upstream_pool_in_flight_0[____temp_1] = ____upstream_pool_in_flight_0[____temp_1] + 1
    append(upstream, record, node, now_ms)
end
--- The try in flight, if there is one, is over.
function ____exports.endTry(record)
    local node = record.node
    local upstream = record.upstream
    ____exports.endTryUnweighed(record)
    if node >= 0 and upstream ~= nil then
        weigh(upstream.pool, node)
    end
end
--- The node has answered a request that was sent to it at `start_ms`.
function ____exports.noteAnswered(upstream, node, start_ms)
    local answered = upstream.pool.answered_start_ms
    answered[node + 1] = math_max(answered[node + 1], start_ms)
end
--- A request that has lasted for less than both may be slow or stuck, and is not called long. 20 times the usual
-- latency: requests that cost 20 times as much as others (docs/tuning.md) still count as work while they run; streams
-- are known soon. With 2 s instead the streams of 2 s ago hid what a node had to do.
local LONG_AFTER_MS = 200
local LONG_AFTER_LATENCIES = 20
--- Takes requests that are long rather than stuck out of the lists of those that are waited for: they have lasted
-- long, and the node has answered later ones. Without this, one open stream would make its node look hung. Flush.
function ____exports.setLongAside(upstream, now_ms)
    local pool = upstream.pool
    do
        local node = 0
        while node < pool.n do
            local head = upstream.flights[node + 1]
            local long_ms = math_max(LONG_AFTER_MS, LONG_AFTER_LATENCIES * pool.latency_ms[node + 1])
            local first = head.next
            while first ~= head and now_ms - first.start_ms > long_ms and pool.answered_start_ms[node + 1] > first.start_ms do
                local next = first.next
                head.next = next
                next.prev = head
                first.prev = first
                first.next = first
                first.is_long = true
                local ____pool_long_in_flight_6, ____temp_7 = pool.long_in_flight, node + 1
                ____pool_long_in_flight_6[____temp_7] = ____pool_long_in_flight_6[____temp_7] + 1
                first = next
            end
            pool.oldest_start_ms[node + 1] = first.start_ms
            node = node + 1
        end
    end
end
return ____exports
