local math_huge = math.huge
local math_max = math.max
local math_min = math.min
local ____exports = {}
local ____queue = require("resty.ax.core.queue")
local CLASS_COUNT = ____queue.CLASS_COUNT
--- Requests in flight more or less per step, over the upstream.
____exports.DRAIN_STEP = 5
--- Latency may become so many times what it was when draining began, and at least so many ms more (nginx' clock).
local FLAT_RATIO = 1.2
local FLAT_MS = 2
--- And the share of failed tries by so much.
local FLAT_ERRORS = 0.01
--- A step that was taken back is not tried again for so many looks.
local CEILING_LOOKS = 12
--- Looks in a row with nothing waiting, after which it is over: reports of workers come late.
local EMPTY_LOOKS = 2
---
-- @param extra to go on with, of a drain that another collector began; else 0
function ____exports.newDrain(extra)
    return {
        extra = extra,
        base_latency_ms = nil,
        base_error_rate = 0,
        next_step_ms = 0,
        ceiling = math_huge,
        ceiling_until_ms = 0,
        empty_looks = 0
    }
end
local function isFlat(drain, base_ms, seen)
    local latency_ms = seen.latency_ms or math_huge
    local allowed_ms = math_max(base_ms * FLAT_RATIO, base_ms + FLAT_MS)
    return latency_ms <= allowed_ms and seen.error_rate <= drain.base_error_rate + FLAT_ERRORS
end
--- One look.
-- 
-- @param max_extra how far the limits may be exceeded; 0 = not
-- @param look_ms how long a step takes to show in what is seen
-- @param now_ms monotonic ms
-- @returns whether it is over
function ____exports.stepDrain(drain, seen, max_extra, look_ms, now_ms)
    drain.empty_looks = seen.waiting > 0 and 0 or drain.empty_looks + 1
    if drain.empty_looks >= EMPTY_LOOKS then
        return true
    end
    if now_ms < drain.next_step_ms then
        return false
    end
    local base_ms = drain.base_latency_ms
    if base_ms == nil then
        if seen.latency_ms == nil then
            return false
        end
        drain.base_latency_ms = seen.latency_ms
        drain.base_error_rate = seen.error_rate
    elseif not isFlat(drain, base_ms, seen) then
        drain.extra = math_max(0, drain.extra - ____exports.DRAIN_STEP)
        drain.ceiling = drain.extra
        drain.ceiling_until_ms = now_ms + CEILING_LOOKS * look_ms
        drain.next_step_ms = now_ms + look_ms
        return false
    end
    local ceiling = now_ms < drain.ceiling_until_ms and drain.ceiling or math_huge
    drain.extra = math_max(
        drain.extra,
        math_min(drain.extra + ____exports.DRAIN_STEP, max_extra, ceiling)
    )
    drain.next_step_ms = now_ms + look_ms
    return false
end
--- Whose turn it is, by weights: smooth weighted round robin, as nginx's own, over the classes that wait. So a class
-- gets its share of the places whatever the others' ages, and none starves.
-- 
-- @param weights of the classes 1..5, more than 0
-- @param credits moved by `noteClassServed` only
-- @param counts entries waiting, by class − 1
-- @returns 1..5; 0 = nothing waits
function ____exports.nextClass(weights, credits, counts)
    local best = 0
    do
        local k = 0
        while k < CLASS_COUNT do
            if counts[k + 1] > 0 and (best == 0 or credits[k + 1] + weights[k + 1] > credits[best] + weights[best]) then
                best = k + 1
            end
            k = k + 1
        end
    end
    return best
end
--- An entry of the class that `nextClass` named has been served; `counts` are those of before.
function ____exports.noteClassServed(weights, credits, counts, cls)
    local total = 0
    do
        local k = 0
        while k < CLASS_COUNT do
            if counts[k + 1] > 0 then
                local ____credits_0, ____temp_1 = credits, k + 1
                ____credits_0[____temp_1] = ____credits_0[____temp_1] + weights[k + 1]
                total = total + weights[k + 1]
            end
            k = k + 1
        end
    end
    credits[cls] = credits[cls] - total
end
return ____exports
