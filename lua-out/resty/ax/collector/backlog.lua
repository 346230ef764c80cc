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
local ____wire = require("resty.ax.core.wire")
local backlogKey = ____wire.backlogKey
local DRAIN_STALE_MS = ____wire.DRAIN_STALE_MS
local drainKey = ____wire.drainKey
local SLOTS_MAX = ____wire.SLOTS_MAX
local WORKER_DEAD_MS = ____wire.WORKER_DEAD_MS
--- How long the queue must have been as full as `from` says, ms: a burst is no backlog.
local FULL_FOR_MS = 2000
---
-- @returns undefined without a queue
function ____exports.newBacklog(config)
    if config.queue == nil then
        return nil
    end
    return {
        plan = drainPlan(config, config.queue),
        since_ms = 0,
        by = "operator",
        ended_by_hand = false
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
--- Requests waiting over all workers, as of their last flush.
local function waitingIn(deps, name, now_ms)
    local waiting = 0
    local slots = math.min(
        SLOTS_MAX,
        asCount(deps.store.get("worker:slots"))
    )
    do
        local slot = 1
        while slot <= slots do
            local record = readJson(
                deps,
                "door:" .. tostring(slot)
            )
            local at_ms = asNumber(record and record.at_ms)
            if at_ms ~= nil and math.abs(now_ms - at_ms) < WORKER_DEAD_MS then
                local ____asRecord_10 = asRecord
                local ____asRecord_9 = asRecord
                local ____opt_5 = asRecord(record and record.upstreams)
                local ____opt_3 = ____asRecord_9(____opt_5 and ____opt_5[name])
                local counts = ____asRecord_10(____opt_3 and ____opt_3.waiting)
                do
                    local k = 0
                    while k < LOWEST_PRIORITY do
                        waiting = waiting + asCount(counts and counts[k + 1])
                        k = k + 1
                    end
                end
            end
            slot = slot + 1
        end
    end
    return waiting
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
    local backlog = upstream.backlog
    local ____temp_13
    if backlog == nil then
        ____temp_13 = nil
    else
        ____temp_13 = readJson(
            deps,
            drainKey(upstream.config.name)
        )
    end
    local old = ____temp_13
    local at_ms = asNumber(old and old.at_ms)
    if backlog == nil then
        return
    end
    if at_ms == nil or math.abs(now_ms - at_ms) > DRAIN_STALE_MS then
        deps.store.remove(drainKey(upstream.config.name))
        return
    end
    begin(
        backlog,
        (old and old.by) == "size" and "size" or "operator",
        math.min(
            backlog.plan.max_extra,
            asCount(old and old.extra)
        ),
        now_ms
    )
    backlog.since_ms = math.min(
        now_ms,
        asNumber(old and old.since_ms) or now_ms
    )
    backlog.refuse = flagsOf(old and old.refuse)
end
local function obeyOperator(deps, backlog, name, now_ms)
    local wish = readJson(
        deps,
        backlogKey(name)
    )
    if wish == nil then
        return
    end
    if wish.on == true then
        if backlog.drain == nil then
            begin(backlog, "operator", 0, now_ms)
        end
        backlog.by = "operator"
        backlog.refuse = flagsOf(wish.refuse)
    else
        backlog.drain = nil
        backlog.ended_by_hand = true
        deps.store.remove(backlogKey(name))
    end
end
--- Whether the queue has been nearly full for long enough.
local function isPiledUp(backlog, queue, waiting, now_ms)
    local from = queue.drain.from * queue.size
    if waiting < from / 2 then
        backlog.ended_by_hand = false
    end
    if from == 0 or waiting < from or backlog.ended_by_hand then
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
local function publish(deps, backlog, drain, name, now_ms)
    local ____backlog_24 = backlog
    local plan = ____backlog_24.plan
    local since_ms = ____backlog_24.since_ms
    local by = ____backlog_24.by
    local refuse = backlog.refuse or plan.refuse
    local record = {
        at_ms = now_ms,
        since_ms = since_ms,
        by = by,
        refuse = refuse,
        weights = plan.weights,
        extra = drain.extra
    }
    local text = deps.encode(record)
    if text == nil or deps.store.set(
        drainKey(name),
        text
    ) then
        return
    end
    deps.onWarning(
        "store_full",
        ((("no room for " .. drainKey(name)) .. ": the backlog of upstream \"") .. name) .. "\" is not drained"
    )
end
--- Begins, goes on with or ends draining an upstream's backlog. Collector, each tick; nothing without a queue.
function ____exports.drainBacklog(deps, upstream, now_ms)
    local ____upstream_25 = upstream
    local backlog = ____upstream_25.backlog
    local config = ____upstream_25.config
    local queue = config.queue
    if backlog == nil or queue == nil then
        return
    end
    local name = config.name
    local was_draining = backlog.drain ~= nil
    obeyOperator(deps, backlog, name, now_ms)
    if backlog.drain == nil and queue.drain.from == 0 and not was_draining then
        return
    end
    local waiting = waitingIn(deps, name, now_ms)
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
        deps.store.remove(backlogKey(name))
    end
    if backlog.drain ~= nil then
        publish(
            deps,
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
