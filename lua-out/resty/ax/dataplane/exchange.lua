local math_abs = math.abs
local math_max = math.max
-- Lua Library inline imports
local function __TS__StringSubstring(self, start, ____end)
    if ____end ~= ____end then
        ____end = 0
    end
    if ____end ~= nil and start > ____end then
        start, ____end = ____end, start
    end
    if start >= 0 then
        start = start + 1
    else
        start = 1
    end
    if ____end ~= nil and ____end < 0 then
        ____end = 0
    end
    return string.sub(self, start, ____end)
end
-- End of Lua Library inline imports
local ____exports = {}
local ____fraction = require("resty.ax.core.fraction")
local fraction = ____fraction.fraction
local ____states = require("resty.ax.core.health.states")
local stateNamed = ____states.stateNamed
local ____values = require("resty.ax.core.values")
local asCount = ____values.asCount
local asNumber = ____values.asNumber
local asRecord = ____values.asRecord
local ____wire = require("resty.ax.core.wire")
local DELTAS_MAX = ____wire.DELTAS_MAX
local OLDEST_FROM_MS = ____wire.OLDEST_FROM_MS
local SLOTS_MAX = ____wire.SLOTS_MAX
local WORKER_DEAD_MS = ____wire.WORKER_DEAD_MS
local ____counters = require("resty.ax.dataplane.counters")
local takeDeltas = ____counters.takeDeltas
local ____tallies = require("resty.ax.core.tallies")
local sendTallies = ____tallies.sendTallies
local ____apply_snapshot = require("resty.ax.dataplane.apply_snapshot")
local applySnapshot = ____apply_snapshot.applySnapshot
local ____retries = require("resty.ax.dataplane.retries")
local weighRetries = ____retries.weighRetries
local function readRecord(exchange, slot)
    local text = exchange.store.get("worker:" .. tostring(slot))
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
            local key = "worker:" .. tostring(slot)
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
--- Tells the others that this worker lives, and what it has in flight.
local function publishRecord(exchange, upstreams, exiting, now_ms)
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
            "worker:" .. tostring(exchange.slot),
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
    local slots = exchange.store.get("worker:slots")
    if type(slots) ~= "number" or slots < exchange.slot then
        exchange.store.set("worker:slots", exchange.slot)
    end
end
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
    local slots = exchange.store.get("worker:slots")
    if type(slots) ~= "number" then
        return
    end
    do
        local slot = 1
        while slot <= slots and slot <= SLOTS_MAX do
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
--- A node of a snapshot, or undefined when a field that picks rest on is missing or no number.
local function snapshotNode(value)
    local given = asRecord(value)
    local state = stateNamed(given and given.state)
    local weight = asNumber(given and given.weight)
    local static_weight = asNumber(given and given.static_weight)
    local success = asNumber(given and given.success)
    if state == nil or weight == nil or static_weight == nil or success == nil then
        return nil
    end
    return {
        state = state,
        weight = weight,
        static_weight = static_weight,
        success = success,
        latency_ms = asNumber(given and given.latency_ms),
        samples = asNumber(given and given.samples),
        judged_p99_ms = asNumber(given and given.judged_p99_ms),
        trial = asNumber(given and given.trial),
        ramp_limit = asNumber(given and given.ramp_limit)
    }
end
--- Nodes that are unreadable are left out: they keep what is known of them.
local function readSnapshot(value)
    local given = asRecord(value)
    local nodes = asRecord(given and given.nodes)
    if given == nil or nodes == nil then
        return nil
    end
    local snapshot = {
        generation = asCount(given.generation),
        at_ms = asCount(given.at_ms),
        nodes = {}
    }
    if given.panic == true then
        snapshot.panic = true
    end
    for id, node in pairs(nodes) do
        local read = snapshotNode(node)
        if read ~= nil then
            snapshot.nodes[id] = read
        end
    end
    return snapshot
end
--- Nodes of snapshots taken over between two pauses: about two milliseconds' work.
local NODES_PER_PAUSE = 1000
--- Also unchanged it is taken over again: measurements of the worker's own yield to it when they get old.
local TAKE_AGAIN_MS = 3000
--- What a snapshot says, without its generation and time: of an upstream without traffic the same at every tick, and
-- decoding it is dear.
local function bodyOf(text)
    local generation_end = (string.find(text, ",", nil, true) or 0) - 1
    local time_end = (string.find(
        text,
        ",",
        math_max(generation_end + 1 + 1, 1),
        true
    ) or 0) - 1
    return __TS__StringSubstring(text, time_end + 1)
end
local function takeSnapshot(exchange, upstream, text, now_ms)
    upstream.snapshot_taken_ms = now_ms
    local snapshot = readSnapshot(exchange.decode(text))
    if snapshot ~= nil then
        applySnapshot(upstream, snapshot, now_ms)
    else
        exchange.onFault("store_corrupt", ("snapshot:" .. upstream.pool.name) .. " is not a snapshot; kept the one before")
    end
end
--- Takes over every snapshot that has moved since the last call.
-- 
-- @param pause lets the worker serve what waits; absent where there is nothing to wait for
function ____exports.readSnapshots(exchange, upstreams, now_ms, pause)
    local generation = asNumber(exchange.store.get("generation"))
    if generation ~= nil and generation == exchange.generation then
        return
    end
    exchange.generation = generation
    local nodes = 0
    for ____, upstream in ipairs(upstreams) do
        upstream.store = exchange.store
        local text = exchange.store.get("snapshot:" .. upstream.pool.name)
        if type(text) == "string" then
            local body = bodyOf(text)
            if body ~= upstream.snapshot_body or now_ms - upstream.snapshot_taken_ms >= TAKE_AGAIN_MS then
                upstream.snapshot_body = body
                if pause ~= nil and nodes > 0 and nodes + upstream.pool.n > NODES_PER_PAUSE then
                    pause()
                    nodes = 0
                end
                nodes = nodes + upstream.pool.n
                takeSnapshot(exchange, upstream, text, now_ms)
            end
        end
    end
end
return ____exports
