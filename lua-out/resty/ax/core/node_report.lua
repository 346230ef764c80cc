local math_floor = math.floor
local ____exports = {}
local ____orca = require("resty.ax.core.orca")
local parseLoadReport = ____orca.parseLoadReport
local ____values = require("resty.ax.core.values")
local asCount = ____values.asCount
local asNumber = ____values.asNumber
local asRecord = ____values.asRecord
--- Longer headers are no report: it is kept for every node, and goes through shared memory.
____exports.MAX_REPORT_BYTES = 2048
--- Reports over the limit in a row until the node counts as overloaded: one or two may be a burst. As for slow checks.
____exports.OVER_AFTER = 3
--- So far below the limit it is over: a node that hovers about it is to stay on one side.
local UNDER_BY = 0.05
--- A node that says it is more than 100 times full does not know what it says.
local MOST_FULL = 100
--- As many requests waiting as nobody has.
local MOST_QUEUED = 1000000000
--- What tells how busy the node is, the most telling first: its own account of its pool; then what gRFC A58 (gRPC's
-- weighted round robin) goes by, in its order.
local BUSY_FIGURES = {"named_metrics.watermark", "utilization.watermark", "application_utilization", "cpu_utilization"}
local QUEUE_FIGURES = {"named_metrics.queue_depth", "utilization.queue_depth"}
---
-- @returns the first of these figures that is within 0..most; undefined: none is
local function firstOf(report, names, most)
    do
        local i = 0
        while i < #names do
            local value = report[names[i + 1]]
            if value ~= nil and value >= 0 and value <= most then
                return names[i + 1]
            end
            i = i + 1
        end
    end
    return nil
end
local function countOver(watermark, before, limit)
    local so_far = before and before.over_in_row or 0
    if watermark == nil then
        return 0
    end
    if watermark > limit then
        return so_far + 1
    end
    return watermark < limit - UNDER_BY and 0 or so_far
end
---
-- @param text the header, as received
-- @param before the node's last report
-- @param limit from where on it is too busy, 0..1
-- @param at_ms when it came, monotonic ms
-- @returns undefined: there is no figure in it that can be read
function ____exports.readNodeReport(text, decode, before, limit, at_ms)
    if #text > ____exports.MAX_REPORT_BYTES then
        return nil
    end
    local signals = parseLoadReport(text, decode)
    if signals == nil then
        return nil
    end
    local watermark_of = firstOf(signals, BUSY_FIGURES, MOST_FULL)
    local queue = firstOf(signals, QUEUE_FIGURES, MOST_QUEUED)
    local ____temp_2
    if watermark_of == nil then
        ____temp_2 = nil
    else
        ____temp_2 = signals[watermark_of]
    end
    local watermark = ____temp_2
    local ____watermark_4 = watermark
    local ____watermark_of_5 = watermark_of
    local ____temp_3
    if queue == nil then
        ____temp_3 = nil
    else
        ____temp_3 = signals[queue]
    end
    return {
        watermark = ____watermark_4,
        watermark_of = ____watermark_of_5,
        queue_depth = ____temp_3,
        signals = signals,
        signals_at_ms = at_ms,
        over_in_row = countOver(watermark, before, limit)
    }
end
--- Goes on from what the collector before has published.
-- 
-- @param given from the store: not trusted
-- @param now_ms monotonic ms
function ____exports.restoreNodeReport(given, now_ms)
    local old = asRecord(given)
    local at_ms = asNumber(old and old.signals_at_ms)
    if old == nil or at_ms == nil or at_ms <= 0 or at_ms > now_ms then
        return nil
    end
    local signals = {}
    local figures = asRecord(old.signals) or ({})
    for name in pairs(figures) do
        local value = asNumber(figures[name])
        if value ~= nil then
            signals[name] = value
        end
    end
    local watermark = asNumber(old.watermark)
    local queue_depth = asNumber(old.queue_depth)
    return {
        watermark = watermark ~= nil and watermark >= 0 and watermark or nil,
        watermark_of = type(old.watermark_of) == "string" and old.watermark_of or nil,
        queue_depth = queue_depth ~= nil and queue_depth >= 0 and queue_depth or nil,
        signals = signals,
        signals_at_ms = at_ms,
        over_in_row = math_floor(asCount(old.over_in_row))
    }
end
return ____exports
