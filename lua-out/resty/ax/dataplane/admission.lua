local ____exports = {}
local ____queue = require("resty.ax.core.queue")
local AGE_MS = ____queue.AGE_MS
local keyOf = ____queue.keyOf
local ____door = require("resty.ax.dataplane.door")
local noteAdmitted = ____door.noteAdmitted
local ____drain = require("resty.ax.dataplane.drain")
local refusesNew = ____drain.refusesNew
local ____line = require("resty.ax.dataplane.line")
local isBehind = ____line.isBehind
local join = ____line.join
local ____reserve = require("resty.ax.dataplane.reserve")
local reserve = ____reserve.reserve
--- With nobody before it in any worker, a request may take a place at once.
local function enterAtOnce(hall, line, record, now_ms)
    local upstream = record.upstream
    if line ~= nil and isBehind(
        hall,
        line,
        keyOf(record.priority, now_ms, AGE_MS),
        now_ms
    ) then
        return false
    end
    return reserve(upstream, record, now_ms, hall.report)
end
--- Decides on a request whose class and key have been read. Access phase.
-- 
-- @param upstream whose limits apply; the record has no try in flight
-- @param patience_ms longest wait that the client has in mind; Infinity = none said
-- @returns the verdict, and why when it is a refusal
function ____exports.admit(hall, upstream, record, now_ms, patience_ms)
    record.upstream = upstream
    record.start_ms = now_ms
    if upstream.pool.candidate_count == 0 then
        return 0, nil
    end
    local line = upstream.door.line
    if line ~= nil and record.tries == 0 and refusesNew(line, record.priority) then
        return 2, "draining"
    end
    if enterAtOnce(hall, line, record, now_ms) then
        noteAdmitted(upstream.door, record.priority, 0)
        return 0, nil
    end
    if line == nil then
        return 2, "overloaded"
    end
    local refused = join(
        hall,
        line,
        record,
        now_ms,
        patience_ms
    )
    if refused ~= nil then
        return 2, refused
    end
    return 1, nil
end
return ____exports
