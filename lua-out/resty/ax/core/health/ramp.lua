local math_ceil = math.ceil
local math_max = math.max
local math_min = math.min
local ____exports = {}
local busyShare, BUSY_SHARE_MIN, BUSY_SHARE_MAX
local ____record = require("resty.ax.core.health.record")
local enter = ____record.enter
local IN_ROTATION = ____record.IN_ROTATION
function busyShare(seen, now_ms)
    if now_ms >= seen.busy_until_ms then
        return 1
    end
    return math_max(
        BUSY_SHARE_MIN,
        math_min(BUSY_SHARE_MAX, 1 - seen.busy_share)
    )
end
--- A suspect's share: what `score_min` leaves a bad node by default. Enough to see it recover.
local SUSPECT_SHARE = 0.2
--- A slow node's share, where only its probes say so: users' own latencies lower the score besides.
local SLOW_SHARE = 0.5
BUSY_SHARE_MIN = 0.1
BUSY_SHARE_MAX = 0.5
--- Room in flight for a ramping node beyond its share of what the others have: requests come in bunches.
local RAMP_SLACK = 1.5
--- A ramping node gets at least so many at a time: with less, one slow request would stop its return.
local RAMP_LEAST = 2
--- Puts a node at the start of its ramp.
-- 
-- @param cause why it comes (back), in words
function ____exports.startRamp(health, cause, upstream, now_ms)
    if upstream.ramp_s <= 0 then
        return enter(health, "online", IN_ROTATION, now_ms)
    end
    local next = enter(
        health,
        "ramping",
        cause,
        now_ms,
        now_ms + upstream.ramp_s * 1000
    )
    next.error_since_ms = nil
    next.silent_since_ms = nil
    next.clean_since_ms = now_ms
    return next
end
--- Puts a node that is new to a running gateway at the start of its slow start.
function ____exports.startSlowly(health, cause, upstream, now_ms)
    if upstream.slow_start_s <= 0 then
        return ____exports.startRamp(health, cause, upstream, now_ms)
    end
    local flat_ms = now_ms + upstream.slow_start_s * 1000
    local next = enter(
        health,
        "ramping",
        cause,
        now_ms,
        flat_ms + upstream.ramp_s * 1000
    )
    next.flat_until_ms = flat_ms
    return next
end
---
-- @returns share of its weight that the ramp leaves the node, 0..1; 1 when it does not ramp
function ____exports.rampFactor(health, upstream, now_ms)
    if health.state ~= "ramping" or health.until_ms == nil then
        return 1
    end
    local from = health.flat_until_ms == nil and upstream.ramp_from or upstream.slow_start_share
    local begin_ms = health.flat_until_ms or health.since_ms
    local length_ms = health.until_ms - begin_ms
    if length_ms <= 0 then
        return now_ms < health.until_ms and from or 1
    end
    local done = math_max(
        0,
        math_min(1, (now_ms - begin_ms) / length_ms)
    )
    return from + (1 - from) * done
end
---
-- @returns share of its weight that a node in rotation has by its state, 0..1
function ____exports.stateShare(health, seen, upstream, now_ms)
    local state = health.state
    if state == "ramping" then
        return ____exports.rampFactor(health, upstream, now_ms) * busyShare(seen, now_ms)
    end
    if state == "suspect" then
        return SUSPECT_SHARE
    end
    if state == "degraded" then
        local ____busyShare_result_2 = busyShare(seen, now_ms)
        local ____opt_0 = seen.probe
        return ____busyShare_result_2 * ((____opt_0 and ____opt_0.slow) == true and SLOW_SHARE or 1)
    end
    if state == "online" or state == "offline" then
        return 1
    end
    return upstream.ramp_from
end
---
-- @param mean_in_flight what the nodes in rotation that do not ramp have in flight, on average
-- @returns most requests that a ramping node may have in flight, over all workers
function ____exports.rampLimit(factor, mean_in_flight)
    return math_max(
        RAMP_LEAST,
        math_ceil(factor * mean_in_flight * RAMP_SLACK)
    )
end
return ____exports
