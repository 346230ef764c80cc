local ____exports = {}
local ____queue = require("resty.ax.core.queue")
local AGE_MS = ____queue.AGE_MS
local keyOf = ____queue.keyOf
local ____door = require("resty.ax.dataplane.door")
local noteAdmitted = ____door.noteAdmitted
local noteRefused = ____door.noteRefused
local ____drain = require("resty.ax.dataplane.drain")
local refusesNew = ____drain.refusesNew
local ____line = require("resty.ax.dataplane.line")
local isBehind = ____line.isBehind
local join = ____line.join
local ____rate = require("resty.ax.dataplane.rate")
local allowRequest = ____rate.allowRequest
local ____reserve = require("resty.ax.dataplane.reserve")
local reserve = ____reserve.reserve
local ____candidates = require("resty.ax.dataplane.candidates")
local failsClosed = ____candidates.failsClosed
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
--- The whole decision on a request whose class and key have been read, with every reason to refuse it; counts refusals.
-- Access phase.
-- 
-- @param rate_limit the gateway's; undefined = none, or the request has its token already
-- @param patience_ms longest wait that the client has in mind; Infinity = none said
-- @returns why the request is refused, or undefined: it has a waiter then, or goes on
function ____exports.decide(hall, rate_limit, upstream, record, now_ms, patience_ms)
    if failsClosed(upstream) and upstream.trials.open_count == 0 then
        noteRefused(upstream.door, "panic")
        return "panic"
    end
    if record.tries == 0 and not allowRequest(rate_limit, now_ms) then
        noteRefused(upstream.door, "qps")
        return "qps"
    end
    local verdict, reason = ____exports.admit(
        hall,
        upstream,
        record,
        now_ms,
        patience_ms
    )
    if verdict == 2 and reason ~= nil then
        noteRefused(upstream.door, reason)
    end
    return reason
end
return ____exports
