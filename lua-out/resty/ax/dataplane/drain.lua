local math_ceil = math.ceil
-- Lua Library inline imports
local function __TS__TypeOf(value)
    local luaType = type(value)
    if luaType == "table" then
        return "object"
    elseif luaType == "nil" then
        return "undefined"
    else
        return luaType
    end
end
-- End of Lua Library inline imports
local ____exports = {}
local ____drain = require("resty.ax.core.drain")
local nextClass = ____drain.nextClass
local noteClassServed = ____drain.noteClassServed
local ____priority = require("resty.ax.core.priority")
local LOWEST_PRIORITY = ____priority.LOWEST_PRIORITY
local ____queue = require("resty.ax.core.queue")
local peek = ____queue.peek
local peekClass = ____queue.peekClass
local remove = ____queue.remove
local ____values = require("resty.ax.core.values")
local asCount = ____values.asCount
local asRecord = ____values.asRecord
local ____wire = require("resty.ax.core.wire")
local drainKey = ____wire.drainKey
local isDrainFresh = ____wire.isDrainFresh
local ____slots = require("resty.ax.dataplane.slots")
local setOwnLimit = ____slots.setOwnLimit
--- Whether a new request of this priority is refused.
function ____exports.refusesNew(line, priority)
    local ____opt_0 = line.drain
    return (____opt_0 and ____opt_0.refuse[priority]) == true
end
---
-- @returns the waiter whose turn it is: by age and class, or by weights; undefined = nobody waits
function ____exports.nextWaiter(line)
    local drain = line.drain
    if drain == nil then
        return peek(line.queue)
    end
    return peekClass(
        line.queue,
        nextClass(drain.weights, drain.credits, line.queue.counts)
    )
end
--- Takes the waiter that `nextWaiter` named out of the queue: it has its place.
function ____exports.takeOut(line, waiter)
    local drain = line.drain
    local ____opt_2 = waiter.record
    local priority = ____opt_2 and ____opt_2.priority or LOWEST_PRIORITY
    if drain ~= nil then
        noteClassServed(drain.weights, drain.credits, line.queue.counts, priority)
    end
    remove(line.queue, waiter.id)
end
--- Requests more that one node may have: `extra` of the upstream in equal parts, rounded up.
local function setExtra(upstream, slots, extra)
    local ____upstream_4 = upstream
    local config = ____upstream_4.config
    local chosen = config.max_concurrency_per_node
    if config.adaptive_limit ~= nil then
        return
    end
    local count = 0
    for ____, node in ipairs(config.nodes) do
        if node.max_conns == 0 and not node.down then
            count = count + 1
        end
    end
    if chosen ~= nil and count > 0 then
        local limit = chosen + math_ceil(extra / count)
        do
            local node = 0
            while node < slots.n do
                if config.nodes[node + 1].max_conns == 0 then
                    setOwnLimit(slots, node, limit, config.max_overflow_ratio)
                end
                node = node + 1
            end
        end
    end
    if config.max_concurrency ~= nil then
        setOwnLimit(slots, slots.n, config.max_concurrency + extra, 0)
    end
end
local function listOf(value, fallback)
    local given = asRecord(value)
    local list = {}
    do
        local k = 0
        while k < LOWEST_PRIORITY do
            local entry = given and given[k + 1]
            local ____temp_8 = k + 1
            local ____temp_7
            if __TS__TypeOf(entry) == __TS__TypeOf(fallback) then
                ____temp_7 = entry
            else
                ____temp_7 = fallback
            end
            list[____temp_8] = ____temp_7
            k = k + 1
        end
    end
    return list
end
local function parse(value, now_ms)
    local given = asRecord(value)
    if not isDrainFresh(given, now_ms) then
        return nil
    end
    local weights = listOf(given and given.weights, 1)
    do
        local k = 0
        while k < LOWEST_PRIORITY do
            if not (weights[k + 1] > 0) then
                weights[k + 1] = 1
            end
            k = k + 1
        end
    end
    return {
        refuse = listOf(given and given.refuse, false),
        weights = weights,
        credits = listOf(nil, 0),
        extra = asCount(given and given.extra)
    }
end
local function readDrain(upstream, line, value, now_ms)
    local before = line.drain
    local drain = parse(value, now_ms)
    if before ~= nil and drain ~= nil then
        drain.credits = before.credits
    end
    line.drain = drain
    local extra = drain and drain.extra or 0
    if extra ~= (before and before.extra or 0) and upstream.slots ~= nil then
        setExtra(upstream, upstream.slots, extra)
    end
end
--- Takes over what the collector says of drains. Flush; one read of the store for each upstream with a queue.
function ____exports.readDrains(store, upstreams, decode, now_ms)
    for ____, upstream in ipairs(upstreams) do
        local line = upstream.door.line
        if line ~= nil then
            local text = store.get(drainKey(upstream.config.name))
            if text ~= nil then
                readDrain(
                    upstream,
                    line,
                    decode(tostring(text)),
                    now_ms
                )
            elseif line.drain ~= nil then
                readDrain(upstream, line, nil, now_ms)
            end
        end
    end
end
return ____exports
