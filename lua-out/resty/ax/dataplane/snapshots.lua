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
local ____states = require("resty.ax.core.health.states")
local stateNamed = ____states.stateNamed
local ____values = require("resty.ax.core.values")
local asCount = ____values.asCount
local asNumber = ____values.asNumber
local asRecord = ____values.asRecord
local ____apply_snapshot = require("resty.ax.dataplane.apply_snapshot")
local applySnapshot = ____apply_snapshot.applySnapshot
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
