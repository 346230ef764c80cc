local math_abs = math.abs
local math_max = math.max
local ____exports = {}
local ____fraction = require("resty.ax.core.fraction")
local fraction = ____fraction.fraction
local ____values = require("resty.ax.core.values")
local asCount = ____values.asCount
local asNumber = ____values.asNumber
local asRecord = ____values.asRecord
local ____wire = require("resty.ax.core.wire")
local OLDEST_FROM_MS = ____wire.OLDEST_FROM_MS
local SLOTS_MAX = ____wire.SLOTS_MAX
local WORKER_DEAD_MS = ____wire.WORKER_DEAD_MS
local ____worker_keys = require("resty.ax.core.worker_keys")
local lastSlot = ____worker_keys.lastSlot
local setLastSlot = ____worker_keys.setLastSlot
local workerKey = ____worker_keys.workerKey
local function readRecord(exchange, slot)
    local text = exchange.store.get(workerKey(slot))
    if type(text) ~= "string" then
        return nil
    end
    local record = asRecord(exchange.decode(text))
    local pid = asNumber(record and record.pid)
    local at_ms = asNumber(record and record.at_ms)
    if record == nil or pid == nil or at_ms == nil then
        return nil
    end
    local in_flight = asRecord(record.in_flight) or ({})
    local long = asRecord(record.long)
    return {
        pid = pid,
        at_ms = at_ms,
        exiting = record.exiting == true,
        in_flight = in_flight,
        long = long
    }
end
local function isAlive(exchange, record, now_ms)
    if record.exiting == true then
        return exchange.processAlive(record.pid)
    end
    return math_abs(now_ms - record.at_ms) < WORKER_DEAD_MS
end
--- Finds a slot that is free or whose worker is dead. Two workers may take the same dead slot at once:
-- `holdsSlot` finds out at the next flush, and one of them moves on.
local function claimSlot(exchange, text, now_ms)
    do
        local slot = 1
        while slot <= SLOTS_MAX do
            local key = workerKey(slot)
            local record = readRecord(exchange, slot)
            if record == nil or record.pid == exchange.pid or not isAlive(exchange, record, now_ms) then
                if record == nil and exchange.store.get(key) ~= nil then
                    exchange.store.remove(key)
                end
                local ____temp_4
                if record == nil then
                    ____temp_4 = exchange.store.add(key, text)
                else
                    ____temp_4 = exchange.store.set(key, text)
                end
                local won = ____temp_4
                local is_free = not won and (record ~= nil or exchange.store.get(key) == nil)
                if won or is_free and exchange.store.add(key, text) then
                    exchange.slot = slot
                    return true
                end
                if is_free then
                    return false
                end
            end
            slot = slot + 1
        end
    end
    return false
end
local function holdsSlot(exchange)
    local ____temp_7 = exchange.slot > 0
    if ____temp_7 then
        local ____opt_5 = readRecord(exchange, exchange.slot)
        ____temp_7 = (____opt_5 and ____opt_5.pid) == exchange.pid
    end
    return ____temp_7
end
local function inFlight(pool, node)
    return pool.in_flight[node + 1]
end
local function longInFlight(pool, node)
    return pool.long_in_flight[node + 1]
end
--- What is not zero, by upstream and node; undefined when all is.
local function countsOf(upstreams, count)
    local all
    for ____, ____value in ipairs(upstreams) do
        local pool = ____value.pool
        local counts
        do
            local node = 0
            while node < pool.n do
                local value = count(pool, node)
                if value > 0 then
                    if counts == nil then
                        counts = {}
                    end
                    counts[pool.ids[node + 1]] = value
                end
                node = node + 1
            end
        end
        if counts ~= nil then
            if all == nil then
                all = {}
            end
            all[pool.name] = counts
        end
    end
    return all
end
--- Requests that have waited for long, for the collector to see a node that hangs before anything times out.
local function oldestOf(upstreams, now_ms)
    local all
    for ____, upstream in ipairs(upstreams) do
        local pool = upstream.pool
        local starts
        do
            local node = 0
            while node < pool.n do
                local start_ms = pool.oldest_start_ms[node + 1]
                if start_ms > 0 and now_ms - start_ms >= OLDEST_FROM_MS then
                    if starts == nil then
                        starts = {}
                        if all == nil then
                            all = {}
                        end
                        all[pool.name] = starts
                    end
                    starts[pool.ids[node + 1]] = start_ms
                end
                node = node + 1
            end
        end
    end
    return all
end
--- Tells the others that this worker lives, and what it has in flight. Flush.
function ____exports.publishRecord(exchange, upstreams, exiting, now_ms)
    local record = {
        pid = exchange.pid,
        at_ms = now_ms,
        in_flight = countsOf(upstreams, inFlight) or ({})
    }
    record.long = countsOf(upstreams, longInFlight)
    if exiting then
        record.exiting = true
    end
    record.oldest_ms = oldestOf(upstreams, now_ms)
    local text = exchange.encode(record)
    if text == nil then
        return
    end
    local ____holdsSlot_result_8
    if holdsSlot(exchange) then
        ____holdsSlot_result_8 = exchange.store.set(
            workerKey(exchange.slot),
            text
        )
    else
        ____holdsSlot_result_8 = claimSlot(exchange, text, now_ms)
    end
    local written = ____holdsSlot_result_8
    if not written then
        exchange.onFault("store_full", "no room for this worker's requests in flight: the other workers cannot see them")
        return
    end
    if lastSlot(exchange.store) < exchange.slot then
        setLastSlot(exchange.store, exchange.slot)
    end
end
--- Long requests tell as little of a node's work here as in the worker that has them.
local function addOthers(upstream, record)
    local pool = upstream.pool
    local counts = asRecord(record.in_flight[pool.name])
    if counts == nil then
        return
    end
    local ____asRecord_11 = asRecord
    local ____opt_9 = record.long
    local long = ____asRecord_11(____opt_9 and ____opt_9[pool.name])
    do
        local node = 0
        while node < pool.n do
            local id = pool.ids[node + 1]
            local ____pool_others_in_flight_14, ____temp_15 = pool.others_in_flight, node + 1
            ____pool_others_in_flight_14[____temp_15] = ____pool_others_in_flight_14[____temp_15] + math_max(
                0,
                asCount(counts[id]) - asCount(long and long[id])
            )
            node = node + 1
        end
    end
end
--- Takes in the other workers' requests in flight. Dead workers' do not count.
function ____exports.readOthers(exchange, upstreams, now_ms)
    for ____, upstream in ipairs(upstreams) do
        do
            local node = 0
            while node < upstream.pool.n do
                upstream.pool.others_in_flight[node + 1] = fraction(0)
                node = node + 1
            end
        end
    end
    local last = lastSlot(exchange.store)
    do
        local slot = 1
        while slot <= last do
            local ____temp_16
            if slot == exchange.slot then
                ____temp_16 = nil
            else
                ____temp_16 = readRecord(exchange, slot)
            end
            local record = ____temp_16
            if record ~= nil and record.pid ~= exchange.pid and isAlive(exchange, record, now_ms) then
                for ____, upstream in ipairs(upstreams) do
                    addOthers(upstream, record)
                end
            end
            slot = slot + 1
        end
    end
end
return ____exports
