local math_huge = math.huge
local math_max = math.max
local math_min = math.min
local ____exports = {}
--- requirements/strategies.md: reports come every 5 s; one older than this has been missed.
____exports.STALE_AFTER_MS = 10000
--- Reports missed in a row after which the figure is not used at all.
local MISSED_PERIODS = 3
--- How long the share then takes to fall to `OLD_SHARE`: as long as a long window.
local DECAY_MS = 60000
--- What is left of a node that has long been silent about itself: it still serves, and is still measured by its answers.
local OLD_SHARE = 0.5
--- What a figure that is neither fresh nor gone counts.
local STALE_TRUST = 0.5
---
-- @param age_ms since the report came; Infinity = there never was one
-- @param period_ms how often reports come
-- @returns how much of the figure counts, 0..1
function ____exports.trust(age_ms, period_ms)
    if age_ms <= math_max(____exports.STALE_AFTER_MS, period_ms) then
        return 1
    end
    return age_ms <= math_max(____exports.STALE_AFTER_MS, MISSED_PERIODS * period_ms) and STALE_TRUST or 0
end
---
-- @param others mean of the other nodes; undefined when there is none
-- @returns the figure to go by; undefined: it is too old, and there is nothing to stand in for it
function ____exports.blended(value, others, trusted)
    if others == nil then
        return trusted > 0 and value or nil
    end
    return trusted * value + (1 - trusted) * others
end
---
-- @returns share of its weight that the age of its reports leaves a node, OLD_SHARE..1; 1 for one that never reported
function ____exports.staleShare(age_ms, period_ms)
    if age_ms == math_huge then
        return 1
    end
    local gone_ms = age_ms - math_max(____exports.STALE_AFTER_MS, MISSED_PERIODS * period_ms)
    if gone_ms <= 0 then
        return 1
    end
    return 1 - (1 - OLD_SHARE) * math_min(1, gone_ms / DECAY_MS)
end
--- Up to here a thread pool has room: nothing is taken off.
local WATERMARK_FROM = 0.6
--- From here on probes fail (requirements/scheduler.md); the share has reached FULL_SHARE then.
local WATERMARK_FULL = 0.85
local FULL_SHARE = 0.5
---
-- @param watermark how full the node's pool is, 0..1
-- @returns share of its weight that leaves it, FULL_SHARE..1
function ____exports.watermarkShare(watermark)
    local over = (watermark - WATERMARK_FROM) / (WATERMARK_FULL - WATERMARK_FROM)
    return 1 - (1 - FULL_SHARE) * math_max(
        0,
        math_min(1, over)
    )
end
---
-- @returns share by the node's own queue against the others' mean: 1 up to twice the mean, then in inverse proportion
function ____exports.queueShare(depth, others)
    local usual = 2 * (others + 1)
    return depth <= usual and 1 or math_max(FULL_SHARE, usual / depth)
end
return ____exports
