local math_max = math.max
local ____exports = {}
local measureInFlight, hasRecovered, moveScores, moveScore, describeForPicks, successShare, isSettled, IN_FLIGHT_MEMORY, USUAL_RATIO, GOOD_RUN, SUCCESS_PRIOR
local ____ramp = require("resty.ax.core.health.ramp")
local rampFactor = ____ramp.rampFactor
local rampLimit = ____ramp.rampLimit
local stateShare = ____ramp.stateShare
local ____states = require("resty.ax.core.health.states")
local isUsable = ____states.isUsable
local ____evidence = require("resty.ax.core.evidence")
local LATENCY_FLOOR_MS = ____evidence.LATENCY_FLOOR_MS
local weigh = ____evidence.weigh
local ____model = require("resty.ax.core.model")
local DEFAULT_CAPACITY = ____model.DEFAULT_CAPACITY
local ____score = require("resty.ax.core.score")
local connRatio = ____score.connRatio
local errorRatio = ____score.errorRatio
local p99Ratio = ____score.p99Ratio
local referenceP99 = ____score.referenceP99
local stepScore = ____score.stepScore
local targetScore = ____score.targetScore
local ____windows = require("resty.ax.core.windows")
local advanceNode = ____windows.advanceNode
local forgetOlder = ____windows.forgetOlder
local isEmpty = ____windows.isEmpty
local judged = ____windows.judged
local meanMs = ____windows.meanMs
local ____signals = require("resty.ax.collector.signals")
local signalMeans = ____signals.signalMeans
local signalShare = ____signals.signalShare
local ____state = require("resty.ax.collector.state")
local breathe = ____state.breathe
local ____states = require("resty.ax.collector.states")
local moveStates = ____states.moveStates
local ____values = require("resty.ax.core.values")
local round = ____values.round
function measureInFlight(upstream)
    local sum = 0
    local nodes = 0
    do
        local i = 0
        while i < #upstream.nodes do
            local ____upstream_nodes_index_0 = upstream.nodes[i + 1]
            local health = ____upstream_nodes_index_0.health
            local detail = ____upstream_nodes_index_0.detail
            if isUsable(health.state) and health.state ~= "ramping" then
                sum = sum + detail.in_flight
                nodes = nodes + 1
            end
            i = i + 1
        end
    end
    local mean = nodes > 0 and sum / nodes or 0
    upstream.usual_in_flight = nodes > 0 and math_max(mean, upstream.usual_in_flight * IN_FLIGHT_MEMORY) or 0
end
function hasRecovered(node, evidence)
    return node.good_run >= GOOD_RUN and evidence.p99_ms ~= nil and evidence.p99_ms > node.usual_ms
end
function moveScores(collector, upstream, now_ms)
    local nodes = upstream.nodes
    local p99s_ms = {}
    local known = 0
    do
        local i = 0
        while i < #nodes do
            local node = nodes[i + 1]
            node.evidence = nil
            if isUsable(node.health.state) and not isEmpty(node.windows.long.total) then
                breathe(collector, 1)
                local evidence = weigh(node.windows, upstream.config.min_samples)
                node.evidence = evidence
                if evidence.recovered or hasRecovered(node, evidence) then
                    forgetOlder(node.windows, now_ms)
                end
                if evidence.p99_ms ~= nil and evidence.p99_confidence >= 1 then
                    p99s_ms[known + 1] = evidence.p99_ms
                    known = known + 1
                end
            end
            i = i + 1
        end
    end
    local reference_ms = referenceP99(p99s_ms)
    upstream.typical_p99_ms = reference_ms or 0
    local usual_ms = reference_ms == nil and 0 or math_max(reference_ms, LATENCY_FLOOR_MS) * USUAL_RATIO
    do
        local i = 0
        while i < #nodes do
            breathe(collector, 0.25)
            nodes[i + 1].usual_ms = usual_ms
            moveScore(nodes[i + 1], upstream, reference_ms, now_ms)
            i = i + 1
        end
    end
end
function moveScore(node, upstream, reference_ms, now_ms)
    local config = upstream.config
    local ____node_1 = node
    local detail = ____node_1.detail
    local evidence = ____node_1.evidence
    local capacity = node.config.max_conns > 0 and node.config.max_conns or (config.max_concurrency_per_node or DEFAULT_CAPACITY)
    local seen = targetScore(
        p99Ratio(evidence and evidence.p99_ms, reference_ms, evidence and evidence.p99_confidence or 0),
        errorRatio(evidence and evidence.error_rate or 0, config.error_penalty_from, config.eject_error_rate),
        connRatio(detail.in_flight, capacity),
        config
    )
    local knows = evidence ~= nil and evidence.p99_confidence >= 1 and reference_ms ~= nil
    local target = not knows and now_ms < node.held_until_ms and detail.score or seen
    local since_ms = now_ms - detail.score_at_ms
    local score = stepScore(
        detail.score,
        target,
        since_ms,
        config.weight_step,
        config.weight_step_interval_ms
    )
    detail.target_score = target
    if score ~= detail.score then
        detail.score = score
        detail.score_at_ms = now_ms
    end
end
function describeForPicks(node, upstream, means, now_ms)
    local ____node_8 = node
    local detail = ____node_8.detail
    local health = ____node_8.health
    local seen = ____node_8.seen
    local windows = ____node_8.windows
    local ramp = stateShare(health, seen, upstream.config, now_ms) * signalShare(node, upstream.config, means, now_ms)
    local mean_ms = meanMs(windows.short.total) or meanMs(windows.long.total)
    detail.state = health.state
    detail.weight = round(node.config.weight * detail.score * ramp, 10000)
    detail.static_weight = round(node.config.weight * ramp, 10000)
    local may_try = health.live == true or health.state == "probing" and seen.probe == nil
    detail.trial = may_try and health.trial or nil
    local limits = health.state == "ramping" and upstream.usual_in_flight > 0
    local factor = limits and rampFactor(health, upstream.config, now_ms) or 1
    detail.ramp_limit = limits and rampLimit(factor, upstream.usual_in_flight) or nil
    local ____detail_10 = detail
    local ____temp_9
    if mean_ms == nil then
        ____temp_9 = nil
    else
        ____temp_9 = round(mean_ms, 100)
    end
    ____detail_10.latency_ms = ____temp_9
    detail.success = successShare(node)
    detail.samples = windows.long.total.ok > 0 and round(windows.long.total.ok, 1) or nil
    local evidence = node.evidence
    local knows_p99 = (evidence and evidence.p99_ms) ~= nil and evidence.p99_confidence >= 1
    detail.judged_p99_ms = knows_p99 and round(evidence.p99_ms or 0, 10) or nil
end
function successShare(node)
    local ____node_windows_13 = node.windows
    local short = ____node_windows_13.short
    local long = ____node_windows_13.long
    local tally = judged(short.total) == 0 and long.total or short.total
    return round(
        (tally.ok + SUCCESS_PRIOR) / (judged(tally) + SUCCESS_PRIOR),
        10000
    )
end
function isSettled(node, now_ms)
    local ____node_14 = node
    local detail = ____node_14.detail
    local health = ____node_14.health
    local seen = ____node_14.seen
    local windows = ____node_14.windows
    return isEmpty(windows.long.total) and isEmpty(windows.short.total) and detail.in_flight == 0 and detail.score == detail.target_score and now_ms >= node.held_until_ms and health.ejections == 0 and health.error_since_ms == nil and health.kept == nil and seen.busy_until_ms <= now_ms and (health.state == "online" or health.state == "offline" or health.state == "maintenance")
end
--- One look at one upstream: states, then scores, then what picks need to know of every node.
-- 
-- @param now_ms monotonic ms
function ____exports.judgeUpstream(collector, upstream, now_ms)
    do
        local i = 0
        while i < #upstream.nodes do
            breathe(collector, 0.5)
            advanceNode(upstream.nodes[i + 1].windows, now_ms)
            i = i + 1
        end
    end
    moveStates(collector, upstream, now_ms)
    moveScores(collector, upstream, now_ms)
    measureInFlight(upstream)
    local means = signalMeans(upstream, collector.deps.probes ~= nil, now_ms)
    upstream.settled = upstream.panic_since_ms == nil
    upstream.picks = 0
    do
        local i = 0
        while i < #upstream.nodes do
            local node = upstream.nodes[i + 1]
            breathe(collector, 0.5)
            upstream.picks = upstream.picks + node.windows.short.total.picks
            describeForPicks(node, upstream, means, now_ms)
            if not isSettled(node, now_ms) then
                upstream.settled = false
            end
            i = i + 1
        end
    end
end
IN_FLIGHT_MEMORY = 0.9
USUAL_RATIO = 1.5
GOOD_RUN = 12
SUCCESS_PRIOR = 2
return ____exports
