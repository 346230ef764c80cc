local ____exports = {}
local ____stale = require("resty.ax.core.health.stale")
local blended = ____stale.blended
local queueShare = ____stale.queueShare
local staleShare = ____stale.staleShare
local trust = ____stale.trust
local watermarkShare = ____stale.watermarkShare
--- How often reports come with probes: with every HTTP check; TCP checks bring none.
local DEFAULT_PERIOD_MS = 10000
--- How often reports with answers are taken to come (requirements/strategies.md): it depends on who is asked what.
local ANSWERS_PERIOD_MS = 5000
---
-- @returns the newer of the two accounts that there are of a node; undefined: there is none
local function figuresOf(seen)
    local ____seen_0 = seen
    local probe = ____seen_0.probe
    local report = ____seen_0.report
    if probe == nil or probe.signals_at_ms <= 0 then
        return report
    end
    return report ~= nil and report.signals_at_ms >= probe.signals_at_ms and report or probe
end
local function reportPeriodMs(figures, seen, config)
    if figures == seen.report then
        return ANSWERS_PERIOD_MS
    end
    local ____opt_3 = config.probe
    local ____opt_1 = ____opt_3 and ____opt_3.http
    local interval_s = ____opt_1 and ____opt_1.interval_s
    return interval_s == nil and DEFAULT_PERIOD_MS or interval_s * 1000
end
local NONE = {watermark = nil, queue_depth = nil}
---
-- @returns what the nodes report on average
function ____exports.signalMeans(upstream, has_probes, now_ms)
    if not has_probes and not upstream.config.orca then
        return NONE
    end
    local watermark = 0
    local watermarks = 0
    local depth = 0
    local depths = 0
    do
        local i = 0
        while i < #upstream.nodes do
            do
                local ____upstream_nodes_index_5 = upstream.nodes[i + 1]
                local seen = ____upstream_nodes_index_5.seen
                local figures = figuresOf(seen)
                if figures == nil then
                    goto __continue9
                end
                if trust(
                    now_ms - figures.signals_at_ms,
                    reportPeriodMs(figures, seen, upstream.config)
                ) < 1 then
                    goto __continue9
                end
                if figures.watermark ~= nil then
                    watermark = watermark + figures.watermark
                    watermarks = watermarks + 1
                end
                if figures.queue_depth ~= nil then
                    depth = depth + figures.queue_depth
                    depths = depths + 1
                end
            end
            ::__continue9::
            i = i + 1
        end
    end
    return {watermark = watermarks > 0 and watermark / watermarks or nil, queue_depth = depths > 0 and depth / depths or nil}
end
--- Whether the silence is the node's own: probes ask, and an answer to a request has the report with it. One that got no
-- requests had nothing to report with.
local function isSilent(node, figures)
    local ____node_windows_6 = node.windows
    local short = ____node_windows_6.short
    return figures ~= node.seen.report or short.total.ok + short.total.err > 0
end
---
-- @returns share of its weight that the node's own account of its load leaves it; 1 when it gives none
function ____exports.signalShare(node, config, means, now_ms)
    local ____node_7 = node
    local seen = ____node_7.seen
    local figures = figuresOf(seen)
    if figures == nil then
        return 1
    end
    local age_ms = now_ms - figures.signals_at_ms
    local period_ms = reportPeriodMs(figures, seen, config)
    local trusted = trust(age_ms, period_ms)
    local share = isSilent(node, figures) and staleShare(age_ms, period_ms) or 1
    if figures.watermark ~= nil then
        local watermark = blended(figures.watermark, means.watermark, trusted)
        if watermark ~= nil then
            share = share * watermarkShare(watermark)
        end
    end
    if figures.queue_depth ~= nil and means.queue_depth ~= nil then
        local depth = blended(figures.queue_depth, means.queue_depth, trusted)
        if depth ~= nil then
            share = share * queueShare(depth, means.queue_depth)
        end
    end
    return share
end
return ____exports
