local math_floor = math.floor
-- Lua Library inline imports
local function __TS__ObjectAssign(target, ...)
    local sources = {...}
    for i = 1, #sources do
        local source = sources[i]
        if type(source) == "table" then
            for key in pairs(source) do
                target[key] = source[key]
            end
        end
    end
    return target
end
-- End of Lua Library inline imports
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
local ____document = require("resty.ax.observe.document")
local jsonList = ____document.jsonList
local MINUTE_MS = 60000
--- API phase.
-- 
-- @param upstream name of a configured upstream
-- @param limit most events wanted, 1..EVENTS_MAX
-- @param now_ms monotonic ms
-- @param only id of the node whose events are wanted; absent: all
function ____exports.readEvents(deps, upstream, limit, now_ms, only)
    local total = asCount(deps.store.get(eventsKey(upstream)))
    local events = {}
    local recent = 0
    do
        local seq = total
        while seq > 0 and seq > total - EVENTS_MAX do
            local text = deps.store.get(eventKey(upstream, seq))
            local ____temp_0
            if type(text) == "string" then
                ____temp_0 = parseEvent(deps.decode(text))
            else
                ____temp_0 = nil
            end
            local event = ____temp_0
            if event ~= nil and event.seq == seq and (only == nil or event.node == only) then
                local age_ms = now_ms - event.at_ms
                if age_ms <= MINUTE_MS then
                    recent = recent + 1
                end
                if #events < limit then
                    events[#events + 1] = __TS__ObjectAssign(
                        {},
                        event,
                        {age_s = math_floor(age_ms) / 1000}
                    )
                end
            end
            seq = seq - 1
        end
    end
    local kinds = deps.store.get(transitionsKey(upstream))
    local transitions = {}
    local ____pairs_3 = pairs
    local ____asRecord_2 = asRecord
    local ____temp_1
    if type(kinds) == "string" then
        ____temp_1 = deps.decode(kinds)
    else
        ____temp_1 = nil
    end
    for kind, count in ____pairs_3(____asRecord_2(____temp_1) or ({})) do
        transitions[kind] = asCount(count)
    end
    return {
        upstream = upstream,
        total = total,
        state_changes_per_min = recent,
        transitions = transitions,
        events = jsonList(events)
    }
end
return ____exports
