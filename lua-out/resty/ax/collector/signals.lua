local ____exports = {}
local ____stale = require("resty.ax.core.health.stale")
local blended = ____stale.blended
local queueShare = ____stale.queueShare
local staleShare = ____stale.staleShare
local trust = ____stale.trust
local watermarkShare = ____stale.watermarkShare
--- Probes that carry reports come every 10 s by default.
local REPORT_PERIOD_MS = 10000
local NONE = {watermark = nil, queue_depth = nil}
---
-- @returns what the nodes report on average
function ____exports.signalMeans(upstream, has_probes, now_ms)
    if not has_probes then
        return NONE
    end
    local watermark = 0
    local watermarks = 0
    local depth = 0
    local depths = 0
    do
        local i = 0
        while i < #upstream.nodes do
            local probe = upstream.nodes[i + 1].seen.probe
            if probe ~= nil and probe.signals_at_ms > 0 and trust(now_ms - probe.signals_at_ms, REPORT_PERIOD_MS) >= 1 then
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
    return {watermark = watermarks > 0 and watermark / watermarks or nil, queue_depth = depths > 0 and depth / depths or nil}
end
---
-- @returns share of its weight that the node's own account of its load leaves it; 1 when it gives none
function ____exports.signalShare(probe, means, now_ms)
    if probe == nil or probe.signals_at_ms <= 0 then
        return 1
    end
    local age_ms = now_ms - probe.signals_at_ms
    local trusted = trust(age_ms, REPORT_PERIOD_MS)
    local share = staleShare(age_ms, REPORT_PERIOD_MS)
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
