local math_floor = math.floor
local math_max = math.max
local ____exports = {}
local ____events = require("resty.ax.core.health.events")
local eventKey = ____events.eventKey
local eventsKey = ____events.eventsKey
local EVENTS_MAX = ____events.EVENTS_MAX
local parseEvent = ____events.parseEvent
local transitionsKey = ____events.transitionsKey
local ____values = require("resty.ax.core.values")
local asCount = ____values.asCount
local asRecord = ____values.asRecord
--- Changes of state are counted per second, for the rate of the last minute.
local RATE_SECONDS = 60
function ____exports.newEventRecord()
    local per_second = {}
    local second = {}
    do
        local i = 0
        while i < RATE_SECONDS do
            per_second[i + 1] = 0
            second[i + 1] = -1
            i = i + 1
        end
    end
    return {
        kinds = {},
        kinds_changed = false,
        last = 0,
        per_second = per_second,
        second = second
    }
end
local function addChange(record, at_ms)
    local second = math_floor(at_ms / 1000)
    local at = second % RATE_SECONDS
    if record.second[at + 1] ~= second then
        record.second[at + 1] = second
        record.per_second[at + 1] = 0
    end
    local ____record_per_second_0, ____temp_1 = record.per_second, at + 1
    ____record_per_second_0[____temp_1] = ____record_per_second_0[____temp_1] + 1
end
---
-- @returns changes of state in the last minute
function ____exports.changesPerMinute(record, now_ms)
    local oldest = math_floor(now_ms / 1000) - RATE_SECONDS
    local sum = 0
    do
        local i = 0
        while i < RATE_SECONDS do
            if record.second[i + 1] > oldest then
                sum = sum + record.per_second[i + 1]
            end
            i = i + 1
        end
    end
    return sum
end
--- Keeps an event; logs it once.
function ____exports.emit(collector, upstream, node, from, to, reason, numbers, now_ms)
    local ____collector_2 = collector
    local deps = ____collector_2.deps
    local record = upstream.events
    local name = upstream.config.name
    local seq = math_max(
        record.last,
        asCount(deps.store.get(eventsKey(name)))
    ) + 1
    record.last = seq
    local ____seq_5 = seq
    local ____now_ms_6 = now_ms
    local ____opt_3 = deps.wallS
    local event = {
        seq = ____seq_5,
        at_ms = ____now_ms_6,
        wall_s = ____opt_3 and ____opt_3() or 0,
        node = node,
        from = from,
        to = to,
        reason = reason,
        numbers = numbers
    }
    local text = deps.encode(event)
    if text ~= nil and deps.store.set(
        eventKey(name, seq),
        text
    ) then
        deps.store.set(
            eventsKey(name),
            seq
        )
    end
    local kind = (from .. "→") .. to
    record.kinds[kind] = (record.kinds[kind] or 0) + 1
    record.kinds_changed = true
    addChange(record, now_ms)
    local ____opt_7 = deps.onEvent
    if ____opt_7 ~= nil then
        ____opt_7(name, event)
    end
end
local decimals = 1000
--- Keeps a node's change of state, with the figures it was decided by.
function ____exports.emitTransition(collector, upstream, node, from, now_ms)
    local ____node_9 = node
    local seen = ____node_9.seen
    local health = ____node_9.health
    local numbers = {
        streak = seen.streak,
        failures = seen.failures,
        judged = seen.judged,
        failed = seen.failed,
        in_flight = seen.in_flight,
        oldest_ms = seen.oldest_ms,
        ejections = health.ejections
    }
    if health.until_ms ~= nil then
        numbers.for_s = math_floor(health.until_ms - now_ms) / decimals
    end
    ____exports.emit(
        collector,
        upstream,
        node.config.id,
        from,
        health.state,
        health.cause,
        numbers,
        now_ms
    )
end
--- Writes the counts by kind if they have changed, or in any case, so that deleted keys come back.
-- 
-- @param whole write what has not changed too
function ____exports.publishKinds(collector, upstream, whole)
    local record = upstream.events
    if record.last == 0 or not (record.kinds_changed or whole) then
        return
    end
    record.kinds_changed = false
    if whole then
        collector.deps.store.set(
            eventsKey(upstream.config.name),
            record.last
        )
    end
    local text = collector.deps.encode(record.kinds)
    if text ~= nil then
        collector.deps.store.set(
            transitionsKey(upstream.config.name),
            text
        )
    end
end
--- Takes over what an earlier collector has written.
function ____exports.takeEvents(collector, upstream, now_ms)
    local ____collector_deps_10 = collector.deps
    local store = ____collector_deps_10.store
    local decode = ____collector_deps_10.decode
    local name = upstream.config.name
    local record = upstream.events
    record.last = asCount(store.get(eventsKey(name)))
    local text = store.get(transitionsKey(name))
    local ____temp_11
    if type(text) == "string" then
        ____temp_11 = asRecord(decode(text))
    else
        ____temp_11 = nil
    end
    local kinds = ____temp_11
    for kind in pairs(kinds or ({})) do
        record.kinds[kind] = asCount(kinds and kinds[kind])
    end
    do
        local seq = record.last
        while seq > 0 and seq > record.last - EVENTS_MAX do
            local stored = store.get(eventKey(name, seq))
            local ____temp_14
            if type(stored) == "string" then
                ____temp_14 = parseEvent(decode(stored))
            else
                ____temp_14 = nil
            end
            local event = ____temp_14
            if event == nil or event.at_ms > now_ms or now_ms - event.at_ms > RATE_SECONDS * 1000 then
                return
            end
            addChange(record, event.at_ms)
            seq = seq - 1
        end
    end
end
return ____exports
