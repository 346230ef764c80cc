local ____exports = {}
local ____stale = require("resty.ax.core.health.stale")
local blended = ____stale.blended
local queueShare = ____stale.queueShare
local staleShare = ____stale.staleShare
local trust = ____stale.trust
local watermarkShare = ____stale.watermarkShare
--- How often reports come: with every HTTP check; TCP checks bring none.
local DEFAULT_PERIOD_MS = 10000
local function reportPeriodMs(config)
    local ____opt_2 = config.probe
    local ____opt_0 = ____opt_2 and ____opt_2.http
    local interval_s = ____opt_0 and ____opt_0.interval_s
    return interval_s == nil and DEFAULT_PERIOD_MS or interval_s * 1000
end
local NONE = {watermark = nil, queue_depth = nil, period_ms = DEFAULT_PERIOD_MS}
---
-- @returns what the nodes report on average
function ____exports.signalMeans(upstream, has_probes, now_ms)
    if not has_probes then
        return NONE
    end
    local period_ms = reportPeriodMs(upstream.config)
    local watermark = 0
    local watermarks = 0
    local depth = 0
    local depths = 0
    do
        local i = 0
        while i < #upstream.nodes do
            local probe = upstream.nodes[i + 1].seen.probe
            if probe ~= nil and probe.signals_at_ms > 0 and trust(now_ms - probe.signals_at_ms, period_ms) >= 1 then
                if probe.watermark ~= nil then
                    watermark = watermark + probe.watermark
                    watermarks = watermarks + 1
                end
                if probe.queue_depth ~= nil then
                    depth = depth + probe.queue_depth
                    depths = depths + 1
                end
            end
            i = i + 1
        end
    end
    return {watermark = watermarks > 0 and watermark / watermarks or nil, queue_depth = depths > 0 and depth / depths or nil, period_ms = period_ms}
end
---
-- @returns share of its weight that the node's own account of its load leaves it; 1 when it gives none
function ____exports.signalShare(probe, means, now_ms)
    if probe == nil or probe.signals_at_ms <= 0 then
        return 1
    end
    local age_ms = now_ms - probe.signals_at_ms
    local trusted = trust(age_ms, means.period_ms)
    local share = staleShare(age_ms, means.period_ms)
    if probe.watermark ~= nil then
        share = share * watermarkShare(blended(probe.watermark, means.watermark, trusted))
    end
    if probe.queue_depth ~= nil and means.queue_depth ~= nil then
        share = share * queueShare(
            blended(probe.queue_depth, means.queue_depth, trusted),
            means.queue_depth
        )
    end
    return share
end
return ____exports
