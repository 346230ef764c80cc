local math_floor = math.floor
local math_huge = math.huge
local math_max = math.max
local math_min = math.min
local ____exports = {}
local waitingCount
local ____record = require("resty.ax.core.probe.record")
local probeRecord = ____record.probeRecord
local ____results = require("resty.ax.core.probe.results")
local forgetProbe = ____results.forgetProbe
local record = ____results.record
local ____rounds = require("resty.ax.core.probe.rounds")
local nextDueMs = ____rounds.nextDueMs
local takeDue = ____rounds.takeDue
local ____tally = require("resty.ax.core.probe.tally")
local countCheck = ____tally.countCheck
local summarize = ____tally.summarize
local ____probe_targets = require("resty.ax.collector.probe_targets")
local compact = ____probe_targets.compact
local isEmpty = ____probe_targets.isEmpty
local push = ____probe_targets.push
function waitingCount(upstream)
    local ____upstream_26 = upstream
    local trials = ____upstream_26.trials
    local waiting = ____upstream_26.waiting
    local waiting_hanging = ____upstream_26.waiting_hanging
    local lines = {trials, waiting, waiting_hanging}
    local count = 0
    do
        local i = 0
        while i < #lines do
            count = count + (#lines[i + 1].targets - lines[i + 1].first)
            i = i + 1
        end
    end
    return count
end
do
    local ____probe_targets = require("resty.ax.collector.probe_targets")
    ____exports.newProber = ____probe_targets.newProber
    ____exports.restoreProbes = ____probe_targets.restoreProbes
end
--- Most checks under way over all upstreams: each is a connection of the worker's.
____exports.MAX_CONCURRENT_TOTAL = 256
local function isBusy(target, kind)
    local ____temp_0
    if kind == "tcp" then
        ____temp_0 = target.tcp_busy
    else
        ____temp_0 = target.http_busy
    end
    return ____temp_0
end
local function setBusy(target, kind, busy)
    if kind == "tcp" then
        target.tcp_busy = busy
    else
        target.http_busy = busy
    end
end
local function takeRound(upstream, round, kind, now_ms)
    local index = takeDue(round, now_ms)
    while index ~= nil do
        local target = upstream.targets[index + 1]
        if not target.rests and not isBusy(target, kind) then
            setBusy(target, kind, true)
            push(target.hanging and upstream.waiting_hanging or upstream.waiting, target, kind)
        end
        index = takeDue(round, now_ms)
    end
end
--- Puts the nodes whose time has come in line. A node is in line once, however long the line.
-- 
-- @returns when the next one is due, monotonic ms
function ____exports.lineUp(prober, now_ms)
    local next_ms = math_huge
    do
        local i = 0
        while i < #prober.upstreams do
            local upstream = prober.upstreams[i + 1]
            if upstream.tcp ~= nil then
                takeRound(upstream, upstream.tcp, "tcp", now_ms)
                next_ms = math_min(
                    next_ms,
                    nextDueMs(upstream.tcp)
                )
            end
            if upstream.http ~= nil then
                takeRound(upstream, upstream.http, "http", now_ms)
                next_ms = math_min(
                    next_ms,
                    nextDueMs(upstream.http)
                )
            end
            i = i + 1
        end
    end
    return next_ms
end
local function start(prober, upstream, line, now_ms)
    local target = line.targets[line.first + 1]
    local kind = line.kinds[line.first + 1]
    line.first = line.first + 1
    compact(line)
    local ____upstream_1 = upstream
    local config = ____upstream_1.config
    local plan = ____upstream_1.plan
    local node = target.node
    local ____temp_2
    if kind == "http" then
        ____temp_2 = config.http
    else
        ____temp_2 = nil
    end
    local http = ____temp_2
    local other_port = http ~= nil and http.port > 0 and node.port > 0
    local ____kind_4 = kind
    local ____upstream_name_5 = upstream.name
    local ____node_id_6 = node.id
    local ____node_host_7 = node.host
    local ____temp_8 = other_port and http.port or node.port
    local ____temp_9 = config.timeout_s * 1000
    local ____config_10 = config
    local ____http_11 = http
    local ____temp_3
    if kind == "http" then
        ____temp_3 = plan
    else
        ____temp_3 = nil
    end
    local job = {
        kind = ____kind_4,
        upstream = ____upstream_name_5,
        node = ____node_id_6,
        host = ____node_host_7,
        port = ____temp_8,
        timeout_ms = ____temp_9,
        config = ____config_10,
        http = ____http_11,
        plan = ____temp_3
    }
    local hanging = line == upstream.waiting_hanging
    upstream.hanging_last = hanging
    prober.running = prober.running + 1
    upstream.running = upstream.running + 1
    if hanging then
        upstream.running_hanging = upstream.running_hanging + 1
    end
    return {job = job, target = target, hanging = hanging, started_ms = now_ms}
end
--- The line whose first is next; undefined when nobody waits or no place is free.
local function nextLine(upstream)
    if upstream.running >= upstream.config.max_concurrent then
        return nil
    end
    if not isEmpty(upstream.trials) then
        return upstream.trials
    end
    local for_hanging = math_max(
        1,
        math_floor(upstream.config.max_concurrent / 2)
    )
    local may_hang = not isEmpty(upstream.waiting_hanging) and upstream.running_hanging < for_hanging
    local its_turn = upstream.config.max_concurrent > 1 or not upstream.hanging_last or isEmpty(upstream.waiting)
    if may_hang and its_turn then
        return upstream.waiting_hanging
    end
    local ____isEmpty_result_12
    if isEmpty(upstream.waiting) then
        ____isEmpty_result_12 = nil
    else
        ____isEmpty_result_12 = upstream.waiting
    end
    return ____isEmpty_result_12
end
--- Takes the next check that may begin now. Called until it returns undefined; each one must come back by `endCheck`.
-- 
-- @param now_ms monotonic ms
function ____exports.takeCheck(prober, now_ms)
    if prober.running >= ____exports.MAX_CONCURRENT_TOTAL then
        return nil
    end
    local count = #prober.upstreams
    do
        local i = 0
        while i < count do
            local upstream = prober.upstreams[(prober.turn + i) % count + 1]
            local line = nextLine(upstream)
            if line ~= nil then
                prober.turn = (prober.turn + i + 1) % count
                return start(prober, upstream, line, now_ms)
            end
            i = i + 1
        end
    end
    return nil
end
--- Takes a check's result in.
-- 
-- @param result undefined: nothing was found out, because the gateway itself stood still or the check broke
-- @param now_ms monotonic ms
function ____exports.endCheck(prober, check, result, now_ms)
    local ____check_13 = check
    local target = ____check_13.target
    local job = ____check_13.job
    local ____target_14 = target
    local upstream = ____target_14.upstream
    local probe = ____target_14.probe
    prober.running = prober.running - 1
    upstream.running = upstream.running - 1
    if check.hanging then
        upstream.running_hanging = upstream.running_hanging - 1
    end
    setBusy(target, job.kind, false)
    upstream.news = true
    if result == nil then
        countCheck(upstream.tally, nil, 0, now_ms)
        return
    end
    target.hanging = not result.ok and result.took_ms >= job.timeout_ms / 2
    record(
        probe,
        job.kind,
        result,
        job.config,
        now_ms
    )
    countCheck(upstream.tally, result.ok, result.took_ms, now_ms)
    local is_main = job.kind == "http" or upstream.http == nil
    if is_main and probe.view.trial == "running" then
        probe.view.trial = result.ok and "pass" or "fail"
    end
end
--- The check that says most: HTTP where there is one. One that waits or is under way already will do.
local function lineUpTrial(upstream, target)
    local kind = upstream.http == nil and "tcp" or "http"
    if isBusy(target, kind) then
        return
    end
    setBusy(target, kind, true)
    push(upstream.trials, target, kind)
end
--- What the collector sees of the probes.
function ____exports.probeSource(prober)
    return {
        view = function(upstream, node)
            local ____opt_17 = prober.by_name[upstream]
            local ____opt_15 = ____opt_17 and ____opt_17.by_id[node]
            return ____opt_15 and ____opt_15.probe.view
        end,
        record = function(upstream, node)
            local ____opt_19 = prober.by_name[upstream]
            local target = ____opt_19 and ____opt_19.by_id[node]
            local ____temp_21
            if target == nil then
                ____temp_21 = nil
            else
                ____temp_21 = probeRecord(target.probe)
            end
            return ____temp_21
        end,
        summary = function(name, now_ms)
            local upstream = prober.by_name[name]
            if upstream == nil then
                return nil
            end
            local summary = summarize(upstream.tally, now_ms)
            summary.running = upstream.running
            summary.waiting = waitingCount(upstream)
            return summary
        end,
        askTrial = function(name, node)
            local upstream = prober.by_name[name]
            local target = upstream and upstream.by_id[node]
            if upstream == nil or target == nil then
                return false
            end
            if target.probe.view.trial == "running" then
                return true
            end
            target.probe.view.trial = "running"
            lineUpTrial(upstream, target)
            return true
        end,
        rest = function(name, node, rests)
            local ____opt_24 = prober.by_name[name]
            local target = ____opt_24 and ____opt_24.by_id[node]
            if target == nil or target.rests == rests then
                return
            end
            target.rests = rests
            if not rests then
                forgetProbe(target.probe)
            end
        end,
        takeNews = function(name)
            local upstream = prober.by_name[name]
            if upstream == nil then
                return false
            end
            local news = upstream.news
            upstream.news = false
            return news
        end
    }
end
return ____exports
