local pcall = pcall
local ____exports = {}
local ____admission = require("resty.ax.dataplane.admission")
local decide = ____admission.decide
local ____door = require("resty.ax.dataplane.door")
local noteAdmitted = ____door.noteAdmitted
local noteRefused = ____door.noteRefused
local ____in_flight = require("resty.ax.dataplane.in_flight")
local endTry = ____in_flight.endTry
local ____line = require("resty.ax.dataplane.line")
local abandon = ____line.abandon
local roomCame = ____line.roomCame
local ____request_class = require("resty.ax.dataplane.request_class")
local readClass = ____request_class.readClass
local ____request_key = require("resty.ax.dataplane.request_key")
local readKey = ____request_key.readKey
local ____requests = require("resty.ax.dataplane.requests")
local beginVisit = ____requests.beginVisit
local closeRequest = ____requests.closeRequest
local openRequest = ____requests.openRequest
local ____sweep = require("resty.ax.dataplane.sweep")
local discard = ____sweep.discard
local ____worker = require("resty.ax.dataplane.worker")
local process = ____worker.process
local ____admission = require("resty.ax.nginx.admission")
local endAborted = ____admission.endAborted
local refuse = ____admission.refuse
local ____clock = require("resty.ax.nginx.clock")
local nowMs = ____clock.nowMs
local ____request = require("resty.ax.nginx.request")
local isSubrequest = ____request.isSubrequest
local requestBorn = ____request.requestBorn
local requestKey = ____request.requestKey
local ____faults = require("resty.ax.phases.faults")
local fault = ____faults.fault
local report = ____faults.report
local unknownUpstream = ____faults.unknownUpstream
local ____patience = require("resty.ax.phases.patience")
local patienceMs = ____patience.patienceMs
local ____visit = require("resty.ax.phases.visit")
local lastAnswered = ____visit.lastAnswered
local ____wait = require("resty.ax.phases.wait")
local awaitTurn = ____wait.awaitTurn
--- The request that is being decided on came to access() before, and has its token from there. Written by `enter`, read
-- right after it: nothing yields in between.
local has_token = false
--- The request was in an upstream before: what it held there is free now, and for others too.
local function comeBack(worker, record, now_ms)
    local before = record.upstream
    endTry(record)
    beginVisit(
        record,
        record.tries > 0 and lastAnswered()
    )
    if before ~= nil then
        roomCame(worker.hall, before, now_ms)
    end
end
--- Everything before the decision. No loops.
local function enter(name)
    local worker = process.worker
    if worker == nil then
        return nil
    end
    local now_ms = nowMs()
    local upstream = worker.by_name[name]
    if upstream == nil then
        unknownUpstream("access", name, now_ms)
        return nil
    end
    local key = requestKey()
    local record = worker.requests.by_key[key]
    if record ~= nil and record.born ~= requestBorn() then
        if record.waiter ~= nil then
            abandon(worker.hall, record.waiter, now_ms)
        end
        discard(worker.requests, record, now_ms)
        record = nil
    end
    if record == nil then
        record = openRequest(
            worker.requests,
            key,
            requestBorn(),
            isSubrequest()
        )
        has_token = false
    elseif record.reserved and record.upstream == upstream then
        return nil
    else
        comeBack(worker, record, now_ms)
        has_token = true
    end
    record.upstream = upstream
    readClass(upstream, record, report)
    readKey(upstream, record, report)
    return record
end
--- The decision, which has the loops.
-- 
-- @returns why the request is refused, or undefined
local function decideHere(record)
    local worker = process.worker
    local upstream = record.upstream
    local ____has_token_0
    if has_token then
        ____has_token_0 = nil
    else
        ____has_token_0 = worker.rate_limit
    end
    local rate_limit = ____has_token_0
    local reason = decide(
        worker.hall,
        rate_limit,
        upstream,
        record,
        nowMs(),
        patienceMs(upstream)
    )
    if not has_token and (reason == "qps" or reason == "panic") then
        closeRequest(worker.requests, record)
    end
    return reason
end
local function enterGuarded(name)
    local ok, record = pcall(enter, name)
    if ok then
        return record
    end
    fault(
        "access_phase",
        tostring(record),
        nowMs()
    )
    return nil
end
local function decideGuarded(record)
    local ok, reason = pcall(decideHere, record)
    if ok then
        return reason
    end
    fault(
        "access_phase",
        tostring(reason),
        nowMs()
    )
    return nil
end
---
-- @returns how the waiting ended; a fault of ours ends it as if there were room
local function awaitGuarded(record)
    local ok, turn = pcall(awaitTurn, record)
    if ok then
        return turn
    end
    fault(
        "access_phase",
        tostring(turn),
        nowMs()
    )
    return 0
end
--- The slow path: the request waits, then goes on, is refused, or has lost its client.
local function wait(record)
    local upstream = record.upstream
    local begun_ms = nowMs()
    local turn = awaitGuarded(record)
    if turn == 0 then
        noteAdmitted(
            upstream.door,
            record.priority,
            nowMs() - begun_ms
        )
    elseif turn == 1 then
        noteRefused(upstream.door, "queue_timeout")
        refuse("queue_timeout", upstream.config.retry_after_s)
    else
        endAborted()
    end
end
--- Admits a request to an upstream before nginx connects to it: keeps a place for it on the node that the balancer
-- then uses. When every node is full it lets the request wait, where the upstream has a `queue`, by class
-- and age; else, or when the queue is full or its time is over, it answers 503 with `X-AX-Reject` and `Retry-After`.
-- On any fault of ours the request goes on.
-- 
-- access_by_lua phase; optional. Not in subrequests, which have no access phase.
-- 
-- @param name an upstream of the configuration
function ____exports.access(name)
    local record = enterGuarded(name)
    if record == nil then
        return
    end
    local config = record.upstream.config
    local reason = decideGuarded(record)
    if reason ~= nil then
        refuse(reason, config.retry_after_s)
    elseif record.waiter ~= nil then
        wait(record)
    end
end
return ____exports
