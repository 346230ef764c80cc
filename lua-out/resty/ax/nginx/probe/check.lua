local math_max = math.max
local ____exports = {}
local partText
local ____http = require("resty.ax.core.probe.http")
local judgeAnswer = ____http.judgeAnswer
local ____response = require("resty.ax.core.probe.response")
local feed = ____response.feed
local finish = ____response.finish
local newAnswerReader = ____response.newAnswerReader
local ____clock = require("resty.ax.nginx.clock")
local nowMs = ____clock.nowMs
local ____json = require("resty.ax.nginx.json")
local decode = ____json.decode
local ____regex = require("resty.ax.nginx.regex")
local regexMatches = ____regex.regexMatches
local ____timer = require("resty.ax.nginx.timer")
local pause = ____timer.pause
function partText(status)
    return status > 0 and ("HTTP " .. tostring(status)) .. ", then its rest" or "HTTP"
end
--- Makes one check over a connection of its own: never one from a pool, never given to one. A pool's name of our own, for
-- `connect` would else take an idle connection that other Lua code has put aside for the same address.
local POOL = {pool = "ax-probe"}
--- Read at a time.
local READ_BYTES = 4096
--- So many reads in a row that had something at once, then the worker's requests have their turn: below 1 ms.
local READS_AT_A_TIME = 8
--- Past its end by so much, it was this process that stood still (stopped, a long block): the node is not to blame.
local STALLED_MS = 300
--- Gives the next step what is left of the time.
-- 
-- @returns whether anything is
local function arm(attempt)
    local left_ms = attempt.ends_ms - nowMs()
    if left_ms < 1 then
        return false
    end
    attempt.socket:settimeouts(left_ms, left_ms, left_ms)
    return true
end
local function tookMs(attempt)
    return math_max(
        0,
        nowMs() - attempt.started_ms
    )
end
---
-- @param doing what did not succeed: "connect"
local function failed(attempt, doing, err)
    local took_ms = tookMs(attempt)
    local is_late = err == "timeout" or took_ms >= attempt.ends_ms - attempt.started_ms
    local what = is_late and "no answer" or (err or "failed")
    return {
        ok = false,
        why = ((((doing .. ": ") .. what) .. " after ") .. tostring(took_ms)) .. " ms",
        took_ms = took_ms
    }
end
--- What the network and the node answer to an attempt to connect, in cosockets' words. Anything else is this process's own
-- want: of connections (nginx then tells whatever error was the last one), of open files, of ports.
local NODE_ERRORS = {
    timeout = true,
    ["connection refused"] = true,
    ["connection reset by peer"] = true,
    ["connection timed out"] = true,
    ["no route to host"] = true,
    ["host is unreachable"] = true,
    ["host is down"] = true,
    ["network is unreachable"] = true,
    ["no such file or directory"] = true,
    ["permission denied"] = true
}
---
-- @returns why not; undefined when connected; `attempt.own_fault` tells when it is not the node's doing
local function connect(attempt, job)
    local socket = attempt.socket
    arm(attempt)
    local ok, err = unpack(
        job.port > 0 and ({socket:connect(job.host, job.port, POOL)}) or ({socket:connect(job.host, POOL)}),
        1,
        2
    )
    if ok ~= nil then
        return nil
    end
    if NODE_ERRORS[err or ""] == nil then
        attempt.own_fault = err or "failed"
    end
    return failed(attempt, "connect", err)
end
---
-- @returns why not; undefined when the request is out
local function ask(attempt, http, plan)
    local socket = attempt.socket
    if http.tls then
        if not arm(attempt) then
            return failed(attempt, "TLS handshake", "timeout")
        end
        local ok, err = socket:sslhandshake(false, plan.server_name, http.tls_verify)
        if ok == nil or ok == false then
            return failed(attempt, "TLS handshake", err)
        end
    end
    if not arm(attempt) then
        return failed(attempt, "sending", "timeout")
    end
    local sent, err = socket:send(plan.request)
    return sent == nil and failed(attempt, "sending", err) or nil
end
--- Reads what comes in any pieces, until the answer is whole or the time is up.
local function readAnswer(attempt, job, http, plan)
    local reader = newAnswerReader(plan.head_only, http.max_body_bytes)
    local reads = 0
    while not reader.done do
        reads = reads + 1
        if reads % READS_AT_A_TIME == 0 then
            pause()
        end
        if not arm(attempt) then
            return failed(
                attempt,
                partText(reader.status),
                "timeout"
            )
        end
        local data, err = attempt.socket:receiveany(READ_BYTES)
        if data ~= nil then
            feed(reader, data)
        elseif err == "closed" then
            finish(reader)
        else
            return failed(
                attempt,
                partText(reader.status),
                err
            )
        end
    end
    local body = "unasked"
    if reader.problem == nil and http.body_regex ~= nil then
        body = regexMatches(reader.body, http.body_regex) and "matched" or "unmatched"
    end
    return judgeAnswer(
        reader,
        body,
        tookMs(attempt),
        plan,
        job.config,
        function(text) return (decode(text)) end
    )
end
local function attemptOne(attempt, job)
    local unconnected = connect(attempt, job)
    if unconnected ~= nil then
        return unconnected
    end
    local ____job_0 = job
    local http = ____job_0.http
    local plan = ____job_0.plan
    if http == nil or plan == nil then
        local took_ms = tookMs(attempt)
        return {
            ok = true,
            why = ("TCP connection in " .. tostring(took_ms)) .. " ms",
            took_ms = took_ms
        }
    end
    local unsent = ask(attempt, http, plan)
    return unsent or readAnswer(attempt, job, http, plan)
end
--- Makes a check, and closes its connection. Timer phase, in a light thread; yields.
-- 
-- @returns undefined when nothing can be told: this process stood still, or could not make a connection; then also why
function ____exports.makeCheck(job)
    local socket, none = ngx.socket.tcp()
    if socket == nil then
        return nil, none
    end
    local started_ms = nowMs()
    local attempt = {socket = socket, started_ms = started_ms, ends_ms = started_ms + job.timeout_ms}
    local result = attemptOne(attempt, job)
    socket:close()
    if attempt.own_fault ~= nil then
        return nil, attempt.own_fault
    end
    local ____temp_1
    if nowMs() > attempt.ends_ms + STALLED_MS then
        ____temp_1 = nil
    else
        ____temp_1 = result
    end
    return ____temp_1, nil
end
return ____exports
