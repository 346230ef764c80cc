local pcall = pcall
local tonumber = tonumber
local ____exports = {}
local ____address = require("resty.ax.core.config.address")
local formatAddress = ____address.formatAddress
local ____log_values = require("resty.ax.core.log_values")
local shortTimeOf = ____log_values.shortTimeOf
local statusOf = ____log_values.statusOf
local ____cost = require("resty.ax.core.cost")
local weigh = ____cost.weigh
local ____tries = require("resty.ax.core.tries")
local matchTries = ____tries.matchTries
local splitTries = ____tries.splitTries
local ____counters = require("resty.ax.dataplane.counters")
local noteRetryAfter = ____counters.noteRetryAfter
local ____in_flight = require("resty.ax.dataplane.in_flight")
local endTry = ____in_flight.endTry
local endTryUnweighed = ____in_flight.endTryUnweighed
local noteAnswered = ____in_flight.noteAnswered
local ____line = require("resty.ax.dataplane.line")
local abandon = ____line.abandon
local roomCame = ____line.roomCame
local ____outcome = require("resty.ax.dataplane.outcome")
local accountTry = ____outcome.accountTry
local ____requests = require("resty.ax.dataplane.requests")
local closeRequest = ____requests.closeRequest
local ____sweep = require("resty.ax.dataplane.sweep")
local discard = ____sweep.discard
local familyOver = ____sweep.familyOver
local ____reports = require("resty.ax.dataplane.reports")
local takeReport = ____reports.takeReport
local ____worker = require("resty.ax.dataplane.worker")
local process = ____worker.process
local ____clock = require("resty.ax.nginx.clock")
local nowMs = ____clock.nowMs
local ____request = require("resty.ax.nginx.request")
local isSubrequest = ____request.isSubrequest
local requestBorn = ____request.requestBorn
local requestFamily = ____request.requestFamily
local requestKey = ____request.requestKey
local retryAfterMs = ____request.retryAfterMs
local variable = ____request.variable
local ____faults = require("resty.ax.phases.faults")
local fault = ____faults.fault
local ____leaving = require("resty.ax.phases.leaving")
local publishWhileLeaving = ____leaving.publishWhileLeaving
--- nginx's status for a client that left before the answer.
local CLIENT_LEFT = 499
local TOO_MANY_REQUESTS = 429
local UNAVAILABLE = 503
--- Resolution of nginx's clock, and so of $upstream_header_time.
local CLOCK_TICK_MS = 1
--- Time to first byte, ms; undefined when no answer came ("-").
local function latencyOf(header_time)
    if header_time == nil then
        return nil
    end
    local short_ms = shortTimeOf(header_time)
    if short_ms ~= nil then
        return short_ms
    end
    local seconds = tonumber(header_time)
    local ____temp_0
    if seconds == nil then
        ____temp_0 = nil
    else
        ____temp_0 = seconds * 1000
    end
    return ____temp_0
end
--- Refused for load? Retry-After is known of the last answer only: what nginx keeps of earlier ones is their status.
local function isBusy(code, is_last)
    return code == TOO_MANY_REQUESTS or code == UNAVAILABLE and is_last and retryAfterMs() > 0
end
---
-- @param status of the try, from $upstream_status
-- @param latency_ms from $upstream_header_time; undefined: no answer came
local function outcomeOf(status, latency_ms, is_last)
    if status == nil or status == "-" or status == "" then
        return 3
    end
    local code = statusOf(status)
    if latency_ms == nil then
        return code == CLIENT_LEFT and 3 or 2
    end
    if code == nil or code < 500 and code ~= TOO_MANY_REQUESTS then
        return 0
    end
    return isBusy(code, is_last) and 4 or 1
end
local function accountOne(record, k, outcome, latency_ms, waited_ms, now_ms)
    local upstream = record.try_upstream[k + 1]
    local node = record.try_node[k + 1]
    upstream.logs.seen = true
    if outcome == 3 then
        accountTry(
            upstream,
            node,
            outcome,
            waited_ms,
            not record.try_learnt[k + 1],
            now_ms
        )
        return
    end
    if outcome == 4 and k == record.tries - 1 then
        noteRetryAfter(
            upstream.counters,
            node,
            retryAfterMs()
        )
    end
    if outcome ~= 2 and k == record.tries - 1 then
        noteAnswered(upstream, node, record.start_ms)
    end
    accountTry(
        upstream,
        node,
        outcome,
        latency_ms,
        not record.try_learnt[k + 1],
        now_ms
    )
end
--- The slow way: more than one try, ours or not.
local function accountSeveral(record, status, header_time, now_ms)
    local statuses = splitTries(status)
    local times = splitTries(header_time)
    local addresses = splitTries(variable("upstream_addr") or "")
    local ours = {}
    do
        local k = 0
        while k < record.tries do
            local given = record.try_upstream[k + 1].config.nodes[record.try_node[k + 1] + 1]
            ours[k + 1] = formatAddress(given)
            k = k + 1
        end
    end
    local matched = matchTries(ours, addresses)
    do
        local k = 0
        while k < record.tries do
            local at = matched[k + 1]
            local ____temp_1
            if at < 0 then
                ____temp_1 = nil
            else
                ____temp_1 = latencyOf(times[at + 1])
            end
            local latency_ms = ____temp_1
            local outcome = at < 0 and 3 or outcomeOf(statuses[at + 1], latency_ms, at == #statuses - 1)
            local waited_ms = k == record.tries - 1 and now_ms - record.start_ms or 0
            accountOne(
                record,
                k,
                outcome,
                latency_ms or 0,
                waited_ms,
                now_ms
            )
            k = k + 1
        end
    end
end
--- The usual way: one try. A status below 499 is the node's own answer: where nginx gives up without one, it writes 499
-- (the client left), 502 or 504. The time to its first byte lies between 0 and the time since it was sent, both by
-- nginx's own clock of whole milliseconds, so when that is no more than one tick there is nothing left to read.
local function accountSingle(record, status, now_ms)
    local waited_ms = now_ms - record.start_ms
    local code = statusOf(status)
    if code ~= nil and code < CLIENT_LEFT and waited_ms <= CLOCK_TICK_MS then
        local outcome = code == TOO_MANY_REQUESTS and 4 or 0
        accountOne(
            record,
            0,
            outcome,
            waited_ms,
            waited_ms,
            now_ms
        )
        return
    end
    local latency_ms = latencyOf(variable("upstream_header_time"))
    accountOne(
        record,
        0,
        outcomeOf(status, latency_ms, true),
        latency_ms or 0,
        waited_ms,
        now_ms
    )
end
--- What the answer says of its node's load. nginx keeps the headers of the last answer only: of a request with several
-- tries they may be another node's.
local function readReport(record, now_ms)
    local ____record_try_upstream__1_2 = record.try_upstream[1]
    local reports = ____record_try_upstream__1_2.reports
    local counters = ____record_try_upstream__1_2.counters
    local node = record.try_node[1]
    if reports == nil or now_ms < reports.due_ms[node + 1] then
        return
    end
    takeReport(
        reports,
        counters,
        node,
        variable("upstream_http_endpoint_load_metrics"),
        now_ms
    )
end
--- The end of a request where there is more to do. Apart: it costs nothing where there is not.
local function windUp(worker, record, status, now_ms)
    if record.tries == 1 and status ~= nil and #status <= 3 then
        readReport(record, now_ms)
    end
    local upstream = record.upstream
    closeRequest(worker.requests, record)
    if upstream ~= nil then
        roomCame(worker.hall, upstream, now_ms)
    end
    if worker.exiting then
        publishWhileLeaving(worker, now_ms)
    end
end
local function account()
    local worker = process.worker
    if worker == nil then
        return
    end
    worker.log_ran = true
    if worker.requests.subrequest_count > 0 and not isSubrequest() then
        familyOver(
            worker.requests,
            requestFamily()
        )
    end
    local record = worker.requests.by_key[requestKey()]
    if record == nil then
        return
    end
    local now_ms = nowMs()
    if record.waiter ~= nil then
        abandon(worker.hall, record.waiter, now_ms)
    end
    if record.born ~= requestBorn() then
        discard(worker.requests, record, now_ms)
        return
    end
    local weighs = record.tries == 1 and not record.reserved
    if weighs then
        endTryUnweighed(record)
    else
        endTry(record)
    end
    local status = variable("upstream_status")
    if status == nil then
        if weighs then
            weigh(record.try_upstream[1].pool, record.try_node[1])
        end
    else
        if record.tries == 1 and #status <= 3 then
            accountSingle(record, status, now_ms)
        elseif record.tries > 0 then
            accountSeveral(
                record,
                status,
                variable("upstream_header_time") or "",
                now_ms
            )
        end
    end
    if worker.log_does_more then
        windUp(worker, record, status, now_ms)
        return
    end
    local upstream = record.upstream
    closeRequest(worker.requests, record)
    if upstream ~= nil then
        roomCame(worker.hall, upstream, now_ms)
    end
end
--- Accounts every try of the request to the node that made it, and ends its count in flight. Costs
-- next to nothing for requests that did not pass balancer().
-- 
-- log_by_lua phase; at http level, so that every server and location has it.
function ____exports.log()
    local ok, err = pcall(account)
    if not ok then
        fault(
            "log_phase",
            tostring(err),
            nowMs()
        )
    end
end
return ____exports
