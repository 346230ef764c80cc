local math_floor = math.floor
local math_max = math.max
local math_min = math.min
local math_sqrt = math.sqrt
local ____exports = {}
local ____histogram = require("resty.ax.core.histogram")
local addSparse = ____histogram.addSparse
local clearCounts = ____histogram.clearCounts
local percentile = ____histogram.percentile
--- Answers that make a sample: the median of so many exponential latencies is off by a fifth.
local SAMPLE = 50
--- After this time fewer will do, ms; and how many.
local SAMPLE_MAX_MS = 2000
local SAMPLE_LEAST = 10
--- Longest measuring, and longest wait for the node to have no more than `probe` in flight, ms.
local MEASURE_MAX_MS = 5000
--- Lowest gradient: no sample halves the limit. Envoy's and Netflix' too.
local GRADIENT_MIN = 0.5
--- Share of failed tries from which on the limit goes down by that much (Netflix' AIMDLimit: 0.9).
local FAILED_SHARE = 0.1
local BACK_OFF = 0.9
--- Samples at `min` after which the base is taken for wrong, and measured anew (Envoy: 5 windows).
local AT_MIN_MAX = 5
--- nginx' clock has steps of 1 ms: latencies that differ by less than this do not differ, ms.
local RESOLUTION_MS = 2
function ____exports.newGradient(options, now_ms)
    return {
        limit = options.max,
        base_ms = nil,
        probe_due_ms = now_ms,
        phase = 0,
        phase_since_ms = now_ms,
        latency_ms = nil,
        at_min = 0,
        gave_up = false,
        ok = 0,
        sum_ms = 0,
        hist = {},
        failed = 0,
        peak = 0,
        since_ms = now_ms
    }
end
---
-- @returns the limit in force, a whole number
function ____exports.limitInForce(gradient, options)
    if gradient.phase ~= 0 then
        return math_min(options.probe, options.max)
    end
    return math_floor(math_min(
        math_max(gradient.limit, options.min),
        options.max
    ))
end
--- Adds what has happened at the node since the last call.
-- 
-- @param ok successes
-- @param hist their latencies, a sparse histogram (core/histogram.ts)
-- @param sum_ms sum of their latencies
-- @param failed tries that failed
function ____exports.observe(gradient, ok, hist, sum_ms, failed)
    gradient.ok = gradient.ok + ok
    gradient.sum_ms = gradient.sum_ms + sum_ms
    if ok > 0 then
        addSparse(gradient.hist, hist, 1)
    end
    gradient.failed = gradient.failed + failed
end
local function beginSample(gradient, now_ms)
    gradient.ok = 0
    gradient.sum_ms = 0
    clearCounts(gradient.hist)
    gradient.failed = 0
    gradient.peak = 0
    gradient.since_ms = now_ms
end
local function enter(gradient, phase, now_ms)
    gradient.phase = phase
    gradient.phase_since_ms = now_ms
    beginSample(gradient, now_ms)
end
local function setBase(gradient, options, now_ms)
    gradient.base_ms = percentile(gradient.hist, gradient.ok, 0.5)
    gradient.at_min = 0
    gradient.gave_up = false
    gradient.probe_due_ms = now_ms + options.probe_interval_ms
end
--- Measuring has come to nothing: streams hold the node, or it has nothing to do. The next one is not before its time.
local function giveUp(gradient, options, now_ms)
    gradient.at_min = 0
    gradient.gave_up = true
    gradient.probe_due_ms = now_ms + options.probe_interval_ms
    enter(gradient, 0, now_ms)
end
local function measure(gradient, options, in_flight, now_ms)
    local lasted_ms = now_ms - gradient.phase_since_ms
    if gradient.phase == 1 then
        if in_flight <= options.probe then
            enter(gradient, 2, now_ms)
        elseif lasted_ms >= MEASURE_MAX_MS then
            giveUp(gradient, options, now_ms)
        end
    elseif gradient.ok >= SAMPLE or lasted_ms >= MEASURE_MAX_MS and gradient.ok >= SAMPLE_LEAST then
        setBase(gradient, options, now_ms)
        enter(gradient, 0, now_ms)
    elseif lasted_ms >= MEASURE_MAX_MS then
        giveUp(gradient, options, now_ms)
    end
end
--- Whether the sample is of a node with next to nothing to do: by Little's law, and at every look.
local function isUnloaded(gradient, options, now_ms)
    local lasted_ms = now_ms - gradient.since_ms
    return gradient.ok >= SAMPLE and gradient.peak <= options.probe and gradient.sum_ms <= options.probe * math_max(1, lasted_ms)
end
local function adapt(gradient, options, base_ms, latency_ms)
    local allowed_ms = math_max(options.tolerance * base_ms, base_ms + RESOLUTION_MS)
    local ratio = latency_ms > 0 and allowed_ms / latency_ms or 1
    local is_used = gradient.peak >= gradient.limit / 2
    if not is_used and ratio > GRADIENT_MIN then
        return
    end
    local from = is_used and gradient.limit or math_max(gradient.peak, options.min)
    local wanted = from * math_min(
        1,
        math_max(GRADIENT_MIN, ratio)
    ) + math_sqrt(from) / 2
    gradient.limit = math_min(
        math_max(wanted, options.min),
        options.max
    )
    gradient.at_min = gradient.limit <= options.min and gradient.at_min + 1 or 0
end
local function judge(gradient, options, now_ms)
    local judged = gradient.ok + gradient.failed
    if isUnloaded(gradient, options, now_ms) then
        setBase(gradient, options, now_ms)
    elseif gradient.failed >= judged * FAILED_SHARE and gradient.failed > 0 then
        if gradient.base_ms ~= nil then
            gradient.limit = math_max(options.min, gradient.limit * BACK_OFF)
        end
    elseif gradient.base_ms ~= nil then
        gradient.latency_ms = percentile(gradient.hist, gradient.ok, 0.5)
        adapt(gradient, options, gradient.base_ms, gradient.latency_ms)
    end
    beginSample(gradient, now_ms)
end
--- Whether the base is to be measured now, if the node may be: it is old, or was never known, or is wrong.
function ____exports.wantsProbe(gradient, now_ms)
    local seems_wrong = gradient.at_min >= AT_MIN_MAX and not gradient.gave_up
    return gradient.phase == 0 and (now_ms >= gradient.probe_due_ms or seems_wrong)
end
--- One look, after `observe`.
-- 
-- @param in_flight requests in flight at the node
-- @param may_probe the limit may be lowered for measuring: no other node of the upstream is being measured
-- @param now_ms monotonic ms
function ____exports.step(gradient, options, in_flight, may_probe, now_ms)
    if gradient.phase ~= 0 then
        measure(gradient, options, in_flight, now_ms)
        return
    end
    gradient.peak = math_max(gradient.peak, in_flight)
    local judged = gradient.ok + gradient.failed
    local is_old = now_ms - gradient.since_ms >= SAMPLE_MAX_MS
    if judged >= SAMPLE or is_old and judged >= SAMPLE_LEAST then
        judge(gradient, options, now_ms)
    elseif is_old and judged == 0 then
        beginSample(gradient, now_ms)
    end
    if not may_probe or not ____exports.wantsProbe(gradient, now_ms) then
        return
    end
    if in_flight > 0 then
        enter(gradient, 1, now_ms)
    end
end
return ____exports
