local math_huge = math.huge
local math_max = math.max
local ____exports = {}
local countNode, silenceLimit, look, lookForAnswers, moveState, changed, startAnew, releaseOne, isOut, watchHosts, watchPanic, SILENCE_FROM_MS, SILENCE_RATIO, ANSWER_AGE_MS, SLOW_FLOOR_MS, SLOW_SAMPLES
local ____machine = require("resty.ax.core.health.machine")
local transition = ____machine.transition
local ____pool_rules = require("resty.ax.core.health.pool_rules")
local count = ____pool_rules.count
local HOST_SUSPECT_FROM = ____pool_rules.HOST_SUSPECT_FROM
local isPanic = ____pool_rules.isPanic
local mayEject = ____pool_rules.mayEject
local ____ramp = require("resty.ax.core.health.ramp")
local startRamp = ____ramp.startRamp
local ____record = require("resty.ax.core.health.record")
local forgetSeen = ____record.forgetSeen
local ____states = require("resty.ax.core.health.states")
local isUsable = ____states.isUsable
local ____windows = require("resty.ax.core.windows")
local clearNode = ____windows.clearNode
local judged = ____windows.judged
local ____wire = require("resty.ax.core.wire")
local trialKey = ____wire.trialKey
local ____events = require("resty.ax.collector.events")
local emit = ____events.emit
local emitTransition = ____events.emitTransition
local ____reports = require("resty.ax.collector.reports")
local takeReport = ____reports.takeReport
local ____state = require("resty.ax.collector.state")
local breathe = ____state.breathe
local ____wills = require("resty.ax.collector.wills")
local willOf = ____wills.willOf
function countNode(counts, node, sign)
    count(
        counts,
        node.health.state,
        node.health.kept ~= nil,
        node.config.backup,
        sign
    )
end
function silenceLimit(upstream, usable, now_ms)
    if upstream.typical_p99_ms <= 0 then
        return math_huge
    end
    local limit_ms = math_max(SILENCE_FROM_MS, SILENCE_RATIO * upstream.typical_p99_ms)
    local silent = 0
    do
        local i = 0
        while i < #upstream.nodes do
            local oldest_ms = upstream.nodes[i + 1].oldest_start_ms
            if oldest_ms > 0 and now_ms - oldest_ms > limit_ms then
                silent = silent + 1
            end
            i = i + 1
        end
    end
    return silent > 1 and silent * 2 >= usable and math_huge or limit_ms
end
function look(collector, upstream, node, limit_ms, now_ms)
    local ____node_0 = node
    local seen = ____node_0.seen
    local windows = ____node_0.windows
    local short = windows.short.total
    seen.judged = judged(short)
    seen.failed = short.err + short.fail
    seen.young = now_ms - windows.short.since_ms < upstream.config.window_short_s * 1000
    seen.in_flight = node.detail.in_flight
    seen.silence_limit_ms = limit_ms
    lookForAnswers(collector, upstream, node, now_ms)
    seen.busy_share = short.busy > 0 and short.busy / (short.busy + seen.judged) or 0
    local typical_ms = math_max(upstream.typical_p99_ms, SLOW_FLOOR_MS)
    local knows = upstream.typical_p99_ms > 0 and windows.long.total.ok >= SLOW_SAMPLES
    local ____seen_4 = seen
    local ____knows_3
    if knows then
        local ____opt_1 = node.evidence
        ____knows_3 = (____opt_1 and ____opt_1.p99_ms or 0) / typical_ms
    else
        ____knows_3 = 0
    end
    ____seen_4.p99_ratio = ____knows_3
    seen.panic = upstream.panic_since_ms ~= nil
    if upstream.config.orca then
        takeReport(collector, node, upstream.config, now_ms)
    end
    local ____seen_7 = seen
    local ____opt_5 = collector.deps.probes
    ____seen_7.probe = ____opt_5 and ____opt_5.view(upstream.config.name, node.config.id)
    local ____seen_9 = seen
    local ____temp_8
    if upstream.wills.count > 0 then
        ____temp_8 = willOf(upstream.wills, node.config.id, now_ms)
    else
        ____temp_8 = nil
    end
    ____seen_9.will = ____temp_8
end
function lookForAnswers(collector, upstream, node, now_ms)
    local ____node_10 = node
    local seen = ____node_10.seen
    local health = ____node_10.health
    local detail = ____node_10.detail
    local answers = detail.ok_total + detail.err_total + detail.busy_total
    if answers ~= node.answers_seen then
        node.answers_seen = answers
        node.answered_ms = now_ms - ANSWER_AGE_MS
    end
    seen.oldest_ms = node.oldest_start_ms > 0 and math_max(
        0,
        now_ms - math_max(node.oldest_start_ms, node.answered_ms)
    ) or 0
    if seen.oldest_ms <= seen.silence_limit_ms then
        node.picks_before = detail.picks_total
    end
    seen.silent_picks = detail.picks_total - node.picks_before
    local asks = health.live == true and health.silent_since_ms ~= nil
    local key = trialKey(upstream.config.name, node.config.id, health.trial)
    if not asks or collector.deps.store.get(key) == nil then
        seen.trial_taken_ms = 0
    elseif seen.trial_taken_ms == 0 then
        seen.trial_taken_ms = now_ms
    end
end
function moveState(collector, upstream, node, counts, limit_ms, now_ms)
    look(
        collector,
        upstream,
        node,
        limit_ms,
        now_ms
    )
    local ____node_11 = node
    local seen = ____node_11.seen
    local health = ____node_11.health
    seen.may_eject = mayEject(counts, upstream.config.max_ejected_share, node.config.backup)
    local next = transition(
        health,
        seen,
        node.config,
        upstream.config,
        now_ms
    )
    if next == health then
        return
    end
    countNode(counts, node, -1)
    node.health = next
    countNode(counts, node, 1)
    local rests = next.state == "maintenance"
    if rests ~= (health.state == "maintenance") then
        local ____opt_12 = collector.deps.probes
        if ____opt_12 ~= nil then
            ____opt_12.rest(upstream.config.name, node.config.id, rests)
        end
    end
    if next.state ~= health.state then
        changed(
            collector,
            upstream,
            node,
            health.state,
            now_ms
        )
    elseif seen.will ~= nil then
        node.described = false
    end
    if health.trial > 0 and (next.state ~= health.state or next.trial ~= health.trial) then
        collector.deps.store.remove(trialKey(upstream.config.name, node.config.id, health.trial))
    end
    if next.trial > health.trial then
        collector.deps.store.remove(trialKey(upstream.config.name, node.config.id, next.trial))
    end
    if next.state == "probing" and next.trial ~= health.trial then
        forgetSeen(seen)
        if next.live ~= true then
            local ____opt_14 = collector.deps.probes
            if ____opt_14 ~= nil then
                ____opt_14.askTrial(upstream.config.name, node.config.id)
            end
        end
    end
end
function changed(collector, upstream, node, from, now_ms)
    node.described = false
    emitTransition(
        collector,
        upstream,
        node,
        from,
        now_ms
    )
    if isUsable(from) ~= isUsable(node.health.state) then
        startAnew(node, now_ms)
    end
end
function startAnew(node, now_ms)
    forgetSeen(node.seen)
    clearNode(node.windows, now_ms)
    node.held_until_ms = 0
    node.seen.busy_until_ms = 0
end
function releaseOne(collector, upstream, counts, now_ms)
    local first
    local first_ms = math_huge
    do
        local i = 0
        while i < #upstream.nodes do
            local node = upstream.nodes[i + 1]
            local state = node.health.state
            local back_ms = state == "probing" and 0 or (node.health.until_ms or math_huge)
            if (state == "ejected" or state == "probing") and (first == nil or back_ms < first_ms) then
                first = node
                first_ms = back_ms
            end
            i = i + 1
        end
    end
    if first == nil then
        return
    end
    local from = first.health.state
    countNode(counts, first, -1)
    first.health = startRamp(first.health, "back early, every node was out", upstream.config, now_ms)
    countNode(counts, first, 1)
    changed(
        collector,
        upstream,
        first,
        from,
        now_ms
    )
end
function isOut(node)
    local ____node_health_16 = node.health
    local state = ____node_health_16.state
    local by = ____node_health_16.by
    return (state == "ejected" or state == "probing") and by ~= "host"
end
function watchHosts(collector, upstream, now_ms)
    local out = {}
    do
        local i = 0
        while i < #upstream.nodes do
            local ____upstream_nodes_index_17 = upstream.nodes[i + 1]
            local host = ____upstream_nodes_index_17.host
            if host ~= "" and isOut(upstream.nodes[i + 1]) then
                out[host] = (out[host] or 0) + 1
            end
            i = i + 1
        end
    end
    local told = {}
    upstream.hosts_out = 0
    do
        local i = 0
        while i < #upstream.nodes do
            local node = upstream.nodes[i + 1]
            local is_out = (out[node.host] or 0) >= HOST_SUSPECT_FROM
            if is_out then
                upstream.hosts_out = upstream.hosts_out + 1
            end
            local reason = ((tostring(out[node.host] or 0) .. " nodes of host ") .. node.host) .. " are out"
            node.seen.host_out = is_out and upstream.config.eject_host and reason or nil
            if node.host ~= "" and is_out ~= node.host_out and told[node.host] ~= true then
                told[node.host] = true
                local text = is_out and reason .. ": the host may be to blame" or ("fewer than 2 nodes of host " .. node.host) .. " are out"
                local numbers = {out = out[node.host] or 0}
                local from, to = unpack(is_out and ({"trusted", "suspect"}) or ({"suspect", "trusted"}), 1, 2)
                emit(
                    collector,
                    upstream,
                    "",
                    from,
                    to,
                    text,
                    numbers,
                    now_ms
                )
            end
            node.host_out = is_out
            i = i + 1
        end
    end
end
function watchPanic(collector, upstream, counts, now_ms)
    local was = upstream.panic_since_ms ~= nil
    local goes_on = was and upstream.config.panic ~= "fail"
    local panic = isPanic(counts, upstream.config.panic_threshold, goes_on)
    if panic == was then
        return
    end
    upstream.panic_since_ms = panic and now_ms or nil
    if panic then
        upstream.panics_total = upstream.panics_total + 1
    end
    local reason = (tostring(counts.good) .. " good nodes of ") .. tostring(counts.total)
    local from, to = unpack(panic and ({"normal", "panic"}) or ({"panic", "normal"}), 1, 2)
    emit(
        collector,
        upstream,
        "",
        from,
        to,
        reason,
        {good = counts.good, total = counts.total},
        now_ms
    )
end
SILENCE_FROM_MS = 2000
SILENCE_RATIO = 10
ANSWER_AGE_MS = 500
SLOW_FLOOR_MS = 10
SLOW_SAMPLES = 100
--- One look at every node of the upstream, and at the pool as a whole.
function ____exports.moveStates(collector, upstream, now_ms)
    local nodes = upstream.nodes
    local counts = {total = 0, usable = 0, good = 0, good_backups = 0}
    do
        local i = 0
        while i < #nodes do
            countNode(counts, nodes[i + 1], 1)
            i = i + 1
        end
    end
    local limit_ms = silenceLimit(upstream, counts.usable, now_ms)
    do
        local i = 0
        while i < #nodes do
            breathe(collector, 0.5)
            moveState(
                collector,
                upstream,
                nodes[i + 1],
                counts,
                limit_ms,
                now_ms
            )
            i = i + 1
        end
    end
    if counts.usable == 0 and counts.total > 0 then
        releaseOne(collector, upstream, counts, now_ms)
    end
    if counts.usable < counts.total or upstream.hosts_out > 0 then
        watchHosts(collector, upstream, now_ms)
    end
    watchPanic(collector, upstream, counts, now_ms)
end
return ____exports
