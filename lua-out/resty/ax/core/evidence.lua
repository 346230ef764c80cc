local math_abs = math.abs
local math_min = math.min
local math_sqrt = math.sqrt
local ____exports = {}
local weighLatency, weighErrors, WORSE_RATIO, BETTER_RATIO, SIGNIFICANT_SIGMA, P99, older
local ____histogram = require("resty.ax.core.histogram")
local countFrom = ____histogram.countFrom
local differenceInto = ____histogram.differenceInto
local percentile = ____histogram.percentile
local ____windows = require("resty.ax.core.windows")
local errorRate = ____windows.errorRate
local judged = ____windows.judged
--- Are there clearly more hits among `n` than the rate before, `old_hits` of `old_n`, lets expect?
function ____exports.clearlyMore(hits, n, old_hits, old_n)
    local expected = n * old_hits / old_n
    return hits - expected >= SIGNIFICANT_SIGMA * math_sqrt((expected + 1) * (1 + n / old_n))
end
--- Are there clearly fewer hits among `n` than the rate before, `old_hits` of `old_n`, lets expect?
function ____exports.clearlyFewer(hits, n, old_hits, old_n)
    local expected = n * old_hits / old_n
    return expected > 0 and expected - hits >= SIGNIFICANT_SIGMA * math_sqrt(expected * (1 + n / old_n))
end
function weighLatency(evidence, windows, min_samples)
    local short = windows.short.total
    local long = windows.long.total
    if long.ok <= 0 then
        return
    end
    local long_p99 = percentile(long.hist, long.ok, P99)
    evidence.p99_ms = long_p99
    evidence.p99_confidence = math_min(1, long.ok / min_samples)
    local old_n = long.ok - short.ok
    if short.ok < min_samples or old_n < min_samples then
        return
    end
    local p99 = percentile(short.hist, short.ok, P99)
    if math_abs(p99 - long_p99) <= ____exports.LATENCY_FLOOR_MS then
        return
    end
    if p99 > WORSE_RATIO * long_p99 then
        local limit = WORSE_RATIO * long_p99
        differenceInto(older, long.hist, short.hist)
        if ____exports.clearlyMore(
            countFrom(short.hist, limit),
            short.ok,
            countFrom(older, limit),
            old_n
        ) then
            evidence.p99_ms = p99
        end
    elseif p99 < BETTER_RATIO * long_p99 then
        local limit = BETTER_RATIO * long_p99
        differenceInto(older, long.hist, short.hist)
        if ____exports.clearlyFewer(
            countFrom(short.hist, limit),
            short.ok,
            countFrom(older, limit),
            old_n
        ) then
            evidence.p99_ms = p99
            evidence.recovered = true
        end
    end
end
function weighErrors(evidence, windows, min_samples)
    local short = windows.short.total
    local long = windows.long.total
    local n = judged(short)
    local long_n = judged(long)
    if long_n < min_samples then
        return
    end
    evidence.error_rate = errorRate(long)
    local old_n = long_n - n
    if n < min_samples or old_n < min_samples then
        return
    end
    local bad = short.err + short.fail
    local old_bad = long.err + long.fail - bad
    local rate = bad / n
    local old_rate = old_bad / old_n
    if rate > WORSE_RATIO * old_rate then
        if ____exports.clearlyMore(bad, n, old_bad, old_n) then
            evidence.error_rate = rate
        end
    elseif rate < BETTER_RATIO * old_rate and ____exports.clearlyFewer(bad, n, old_bad, old_n) then
        evidence.error_rate = rate
        evidence.recovered = true
    end
end
WORSE_RATIO = 1.5
BETTER_RATIO = 0.67
SIGNIFICANT_SIGMA = 3
--- Latencies that differ by less are taken as equal, and ratios are taken of no less: nginx's clock has
-- steps of 1 ms and is read twice for a latency, so below this a ratio is mostly quantisation.
____exports.LATENCY_FLOOR_MS = 5
P99 = 0.99
older = {}
---
-- @param windows both slid to the present
-- @param min_samples fewer samples than this in a window say little (latency) or nothing (errors)
function ____exports.weigh(windows, min_samples)
    local evidence = {p99_confidence = 0, error_rate = 0, recovered = false}
    weighLatency(evidence, windows, min_samples)
    weighErrors(evidence, windows, min_samples)
    return evidence
end
return ____exports
