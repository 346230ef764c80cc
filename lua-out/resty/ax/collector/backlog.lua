local math_abs = math.abs
local math_max = math.max
local math_min = math.min
local ____exports = {}
local ____drain = require("resty.ax.core.drain")
local newDrain = ____drain.newDrain
local stepDrain = ____drain.stepDrain
local ____drain_plan = require("resty.ax.core.drain_plan")
local drainPlan = ____drain_plan.drainPlan
local ____priority = require("resty.ax.core.priority")
local LOWEST_PRIORITY = ____priority.LOWEST_PRIORITY
local ____values = require("resty.ax.core.values")
local asCount = ____values.asCount
local asNumber = ____values.asNumber
local asRecord = ____values.asRecord
local padded = ____values.padded
local ____wire = require("resty.ax.core.wire")
local backlogKey = ____wire.backlogKey
local DRAIN_STALE_MS = ____wire.DRAIN_STALE_MS
local drainKey = ____wire.drainKey
local isDrainFresh = ____wire.isDrainFresh
local WORKER_DEAD_MS = ____wire.WORKER_DEAD_MS
local ____worker_keys = require("resty.ax.core.worker_keys")
local doorKey = ____worker_keys.doorKey
local lastSlot = ____worker_keys.lastSlot
--- How long the queue must have been as full as `from` says, ms: a burst is no backlog.
local FULL_FOR_MS = 2000
--- A drain is over when its collector has said nothing for so many of its intervals: one tick may come late.
local STALE_INTERVALS = 3
--- One length for all: a full shared dict takes a value of another length for a new one, and loses the old one.
local DRAIN_BYTES = 384
--- Bytes of a worker's report that cost as much to read as one node does to judge (state.ts).
local BYTES_PER_NODE = 50
---
-- @returns undefined without a queue
function ____exports.newBacklog(config)
    if config.queue == nil then
        return nil
    end
    return {
        plan = drainPlan(config, config.queue),
        since_ms = 0,
        by = "operator"
    }
end
local function readJson(deps, key)
    local text = deps.store.get(key)
    local ____temp_0
    if text == nil then
        ____temp_0 = nil
    else
        ____temp_0 = asRecord(deps.decode(tostring(text)))
    end
    return ____temp_0
end
local function addReports(sums, reports)
    for name in pairs(reports) do
        local ____asRecord_3 = asRecord
        local ____opt_1 = asRecord(reports[name])
        local counts = ____asRecord_3(____opt_1 and ____opt_1.waiting)
        local waiting = 0
        do
            local k = 0
            while k < LOWEST_PRIORITY do
                waiting = waiting + asCount(counts and counts[k + 1])
                k = k + 1
            end
        end
        if waiting > 0 then
            sums[name] = (sums[name] or 0) + waiting
        end
    end
end
--- Reads every worker's report once, for all upstreams: with many of both that takes longer than a worker may stop.
local function sumWaiting(deps, waiting, now_ms)
    local ____deps_6 = deps
    local store = ____deps_6.store
    local decode = ____deps_6.decode
    local sums = {}
    local slots = lastSlot(store)
    do
        local slot = 1
        while slot <= slots do
            local text = tostring(store.get(doorKey(slot)) or "")
            local ____temp_7
            if text == "" then
                ____temp_7 = nil
            else
                ____temp_7 = asRecord(decode(text))
            end
            local record = ____temp_7
            local at_ms = asNumber(record and record.at_ms)
            if at_ms ~= nil and math_abs(now_ms - at_ms) < WORKER_DEAD_MS then
                local reports = asRecord(record and record.upstreams)
                if reports ~= nil then
                    addReports(sums, reports)
                end
            end
            waiting.breathe(1 + #text / BYTES_PER_NODE)
            slot = slot + 1
        end
    end
    return sums
end
local function begin(backlog, by, extra, now_ms)
    backlog.drain = newDrain(extra)
    backlog.by = by
    backlog.since_ms = now_ms
end
---
-- @returns which of the classes 1..5, or undefined when that is not what it says
local function flagsOf(value)
    local given = asRecord(value)
    if given == nil then
        return nil
    end
    local flags = {}
    do
        local k = 0
        while k < LOWEST_PRIORITY do
            flags[k + 1] = given[k + 1] == true
            k = k + 1
        end
    end
    return flags
end
--- What the one before was at. Collector, at its first tick.
function ____exports.takeDrain(deps, upstream, now_ms)
    local ____upstream_12 = upstream
    local backlog = ____upstream_12.backlog
    local config = ____upstream_12.config
    if backlog == nil then
        deps.store.remove(backlogKey(config.name))
        return
    end
    local old = readJson(
        deps,
        drainKey(config.name)
    )
    if old == nil or not isDrainFresh(old, now_ms) then
        deps.store.remove(drainKey(config.name))
        return
    end
    begin(
        backlog,
        old.by == "size" and "size" or "operator",
        math_min(
            backlog.plan.max_extra,
            asCount(old.extra)
        ),
        now_ms
    )
    backlog.since_ms = math_min(
        now_ms,
        asNumber(old.since_ms) or now_ms
    )
    backlog.refuse = flagsOf(old.refuse)
end
---
-- @returns whether the operator has ended a drain, and none is to begin by itself before `release`
local function obeyOperator(deps, backlog, name, now_ms)
    local wish = readJson(
        deps,
        backlogKey(name)
    )
    if wish == nil then
        return false
    end
    if wish.on == true then
        if backlog.drain == nil then
            begin(backlog, "operator", 0, now_ms)
        end
        backlog.by = "operator"
        backlog.refuse = flagsOf(wish.refuse)
        return false
    end
    backlog.drain = nil
    return true
end
--- The queue is emptier than half of what begins a drain (or none ever begins by itself): what ended the last is done.
local function release(deps, queue, name, waiting)
    local from = queue.drain.from * queue.size
    if from > 0 and waiting >= from / 2 then
        return
    end
    local wish = readJson(
        deps,
        backlogKey(name)
    )
    if (wish and wish.on) ~= true then
        deps.store.remove(backlogKey(name))
    end
end
--- Whether the queue has been nearly full for long enough.
local function isPiledUp(backlog, queue, waiting, now_ms)
    local from = queue.drain.from * queue.size
    if from == 0 or waiting < from then
        backlog.full_since_ms = nil
        return false
    end
    if backlog.full_since_ms == nil then
        backlog.full_since_ms = now_ms
    end
    return now_ms - backlog.full_since_ms >= FULL_FOR_MS
end
local function look(upstream, drain, plan, waiting, now_ms)
    local ok = 0
    local sum_ms = 0
    local failed = 0
    do
        local i = 0
        while i < #upstream.nodes do
            local total = upstream.nodes[i + 1].windows.short.total
            ok = ok + total.ok
            sum_ms = sum_ms + total.sum_ms
            failed = failed + (total.err + total.fail)
            i = i + 1
        end
    end
    local latency_ms = ok > 0 and sum_ms / ok or nil
    local error_rate = ok + failed > 0 and failed / (ok + failed) or 0
    local look_ms = upstream.config.window_short_s * 1000
    return stepDrain(
        drain,
        {waiting = waiting, latency_ms = latency_ms, error_rate = error_rate},
        plan.max_extra,
        look_ms,
        now_ms
    )
end
local function publish(collector, backlog, drain, name, now_ms)
    local ____collector_15 = collector
    local deps = ____collector_15.deps
    local config = ____collector_15.config
    local ____backlog_16 = backlog
    local plan = ____backlog_16.plan
    local since_ms = ____backlog_16.since_ms
    local by = ____backlog_16.by
    local refuse = backlog.refuse or plan.refuse
    local stale_ms = math_max(DRAIN_STALE_MS, STALE_INTERVALS * config.collector_interval_ms)
    local record = {
        at_ms = now_ms,
        stale_ms = stale_ms,
        since_ms = since_ms,
        by = by,
        refuse = refuse,
        weights = plan.weights,
        extra = drain.extra
    }
    local text = deps.encode(record)
    if text == nil or deps.store.set(
        drainKey(name),
        padded(text, DRAIN_BYTES)
    ) then
        return
    end
    deps.onWarning(
        "store_full",
        ((("no room for " .. drainKey(name)) .. ": the backlog of upstream \"") .. name) .. "\" is not drained"
    )
end
--- What is left of a drain, or begins one.
local function decide(upstream, backlog, queue, waiting, now_ms)
    if backlog.drain == nil and isPiledUp(backlog, queue, waiting, now_ms) then
        begin(backlog, "size", 0, now_ms)
        backlog.refuse = nil
    end
    if backlog.drain ~= nil and look(
        upstream,
        backlog.drain,
        backlog.plan,
        waiting,
        now_ms
    ) then
        backlog.drain = nil
        backlog.full_since_ms = nil
    end
end
--- Begins, goes on with or ends draining an upstream's backlog. Collector, each tick; nothing without a queue.
-- 
-- @param waiting of this tick
function ____exports.drainBacklog(collector, upstream, waiting, now_ms)
    local ____upstream_17 = upstream
    local backlog = ____upstream_17.backlog
    local config = ____upstream_17.config
    local ____collector_18 = collector
    local deps = ____collector_18.deps
    local queue = config.queue
    if backlog == nil or queue == nil then
        return
    end
    local name = config.name
    local was_draining = backlog.drain ~= nil
    local is_held = obeyOperator(deps, backlog, name, now_ms)
    local looks = is_held or backlog.drain ~= nil or queue.drain.from > 0
    if looks then
        if waiting.by_name == nil then
            waiting.by_name = sumWaiting(deps, waiting, now_ms)
        end
        local count = waiting.by_name[name] or 0
        local drained = backlog.drain
        if is_held then
            backlog.full_since_ms = nil
            release(deps, queue, name, count)
        else
            decide(
                upstream,
                backlog,
                queue,
                count,
                now_ms
            )
        end
        if drained ~= nil and backlog.drain == nil then
            deps.store.remove(backlogKey(name))
        end
    end
    if backlog.drain ~= nil then
        publish(
            collector,
            backlog,
            backlog.drain,
            name,
            now_ms
        )
    elseif was_draining then
        deps.store.remove(drainKey(name))
    end
end
return ____exports
