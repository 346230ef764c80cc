local ____exports = {}
local text
local ____values = require("resty.ax.core.values")
local asNumber = ____values.asNumber
local asRecord = ____values.asRecord
function text(value)
    return type(value) == "string" and value or ""
end
--- Events kept per upstream: an hour of a flapping node, and below 100 kB.
____exports.EVENTS_MAX = 256
---
-- @returns key of the number of events so far
function ____exports.eventsKey(upstream)
    return "events:" .. upstream
end
---
-- @returns key of one event: the place of the one EVENTS_MAX before it
function ____exports.eventKey(upstream, seq)
    return (("event:" .. upstream) .. ":") .. tostring(seq % ____exports.EVENTS_MAX)
end
---
-- @returns key of the counts by kind, a JSON object: "online→suspect": 3
function ____exports.transitionsKey(upstream)
    return "transitions:" .. upstream
end
---
-- @returns the event, or undefined when the value is none
function ____exports.parseEvent(value)
    local given = asRecord(value)
    local seq = asNumber(given and given.seq)
    local at_ms = asNumber(given and given.at_ms)
    if given == nil or seq == nil or at_ms == nil then
        return nil
    end
    local numbers = {}
    local raw = asRecord(given.numbers) or ({})
    for name in pairs(raw) do
        numbers[name] = asNumber(raw[name]) or 0
    end
    return {
        seq = seq,
        at_ms = at_ms,
        wall_s = asNumber(given.wall_s) or 0,
        node = text(given.node),
        from = text(given.from),
        to = text(given.to),
        reason = text(given.reason),
        numbers = numbers
    }
end
---
-- @returns the event for the error log: `, node "a": online → suspect: 3 failures in a row`
function ____exports.eventText(event)
    local node = event.node == "" and "" or (", node \"" .. event.node) .. "\""
    return (((((node .. ": ") .. event.from) .. " → ") .. event.to) .. ": ") .. event.reason
end
return ____exports
