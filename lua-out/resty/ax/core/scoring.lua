local math_abs = math.abs
local math_floor = math.floor
local math_max = math.max
local math_min = math.min
local math_sqrt = math.sqrt
-- Lua Library inline imports
local function __TS__ArraySort(self, compareFn)
    if compareFn ~= nil then
        table.sort(
            self,
            function(a, b) return compareFn(nil, a, b) < 0 end
        )
    else
        table.sort(self)
    end
    return self
end
-- End of Lua Library inline imports
local ____exports = {}
local ____load = require("resty.ax.core.load")
local loadOf = ____load.loadOf
--- A signal's reader gives this for "no data": real ones are never negative.
local NO_DATA = -1
--- A signal that nodes report: without a report there is no data.
local function reported(name)
    return function(pool, node)
        local ____opt_0 = pool.reports[name]
        return ____opt_0 and ____opt_0[node + 1] or NO_DATA
    end
end
--- Every signal, by the name used in the configuration.
____exports.SIGNALS = {
    latency = {
        doc = "mean latency of successes, about 1 s",
        better = "low",
        is_share = false,
        read = function(pool, node) return pool.samples[node + 1] > 0 and pool.latency_ms[node + 1] or NO_DATA end
    },
    p99 = {
        doc = "P99 of successes as the collector judges it",
        better = "low",
        is_share = false,
        read = function(pool, node) return pool.p99_ms[node + 1] end
    },
    in_flight = {
        doc = "requests in flight per weight",
        better = "low",
        is_share = false,
        read = function(pool, node) return loadOf(pool, pool.static_weight, node) end
    },
    load = {
        doc = "requests in flight ÷ capacity (`max_conns`, else `max_concurrency_per_node`)",
        better = "low",
        is_share = true,
        read = function(pool, node) return (pool.in_flight[node + 1] + pool.others_in_flight[node + 1]) / pool.capacity[node + 1] end
    },
    success = {
        doc = "share of tries that succeeded, about 1 s",
        better = "high",
        is_share = true,
        read = function(pool, node) return (pool.samples[node + 1] > 0 or pool.success[node + 1] < 1) and pool.success[node + 1] or NO_DATA end
    },
    weight = {
        doc = "base weight × ramp",
        better = "high",
        is_share = false,
        read = function(pool, node) return pool.static_weight[node + 1] end
    },
    cpu = {
        doc = "share of its CPU in use, as the node reports it",
        better = "low",
        is_share = true,
        read = reported("cpu")
    },
    memory = {
        doc = "share of its memory in use, as the node reports it",
        better = "low",
        is_share = true,
        read = reported("memory")
    },
    cost = {
        doc = "the node's `cost`",
        better = "low",
        is_share = false,
        read = function(pool, node) return pool.price[node + 1] end
    }
}
--- Nodes whose values are sorted; of more, an evenly spaced sample: a rebuild must not block a worker for 2 ms.
local SAMPLE = 256
--- Values that differ by less are equal: the order within noise means nothing.
local TIE = 0.1
--- How much of a new P95 enters the historic one per snapshot: at two a second, about 5 s of memory.
local HISTORY_GAIN = 0.1
--- Standard deviations at which a z-score is clipped: one outlier must not decide.
local Z_MAX = 3
--- A value of a signal all nodes agree on says nothing.
local MIDDLE = 0.5
---
-- @returns how many of the sorted values are under the limit (or at it, when `inclusive`)
local function countUnder(stats, limit, inclusive)
    local low = 0
    local high = stats.size
    while low < high do
        local middle = math_floor((low + high) / 2)
        local value = stats.sorted[middle + 1]
        if value < limit or inclusive and value == limit then
            low = middle + 1
        else
            high = middle
        end
    end
    return low
end
--- Every normaliser by the name used in the configuration.
____exports.NORMALISERS = {
    percentile = function(stats, value)
        if stats.size == 0 then
            return MIDDLE
        end
        local under = countUnder(stats, value * (1 - TIE), false)
        local up_to = countUnder(stats, value * (1 + TIE), true)
        return (under + (up_to - under) / 2) / stats.size
    end,
    p95 = function(stats, value) return stats.historic_p95 > 0 and math_min(1, value / stats.historic_p95) or MIDDLE end,
    zscore = function(stats, value)
        if stats.deviation <= 1e-9 * math_abs(stats.mean) then
            return MIDDLE
        end
        local z = (value - stats.mean) / stats.deviation
        return (math_max(
            -Z_MAX,
            math_min(Z_MAX, z)
        ) + Z_MAX) / (2 * Z_MAX)
    end,
    share = function(_stats, value) return math_max(
        0,
        math_min(1, value)
    ) end
}
---
-- @param parts at least one, names and normalisers known, weights more than 0
function ____exports.newScorer(parts)
    local terms = {}
    do
        local i = 0
        while i < #parts do
            local signal = ____exports.SIGNALS[parts[i + 1].name]
            local direction = parts[i + 1].direction or signal.better
            local stats = {
                sorted = {},
                size = 0,
                mean = 0,
                deviation = 0,
                historic_p95 = -1
            }
            terms[#terms + 1] = {
                part = parts[i + 1],
                signal = signal,
                is_low = direction == "low",
                stats = stats,
                mean_goodness = MIDDLE
            }
            i = i + 1
        end
    end
    return {terms = terms}
end
--- Looks at an evenly spaced sample of the nodes.
local function sampleInto(term, pool, candidates, count)
    local stats = term.stats
    local step = math_max(1, count / SAMPLE)
    local sorted = {}
    local sum = 0
    do
        local at = 0
        while at < count do
            local value = term.signal.read(
                pool,
                candidates[math_floor(at) + 1]
            )
            if value >= 0 then
                sorted[#sorted + 1] = value
                sum = sum + value
            end
            at = at + step
        end
    end
    __TS__ArraySort(
        sorted,
        function(____, a, b) return a - b end
    )
    local size = #sorted
    stats.sorted = sorted
    stats.size = size
    if size == 0 then
        return
    end
    stats.mean = sum / size
    local squares = 0
    do
        local k = 0
        while k < size do
            squares = squares + (sorted[k + 1] - stats.mean) * (sorted[k + 1] - stats.mean)
            k = k + 1
        end
    end
    stats.deviation = math_sqrt(squares / size)
    local p95 = sorted[math_floor((size - 1) * 0.95) + 1]
    local history = stats.historic_p95
    stats.historic_p95 = history < 0 and p95 or history + HISTORY_GAIN * (p95 - history)
end
---
-- @returns 0..1, 1 = best
local function goodness(term, value)
    local part = ____exports.NORMALISERS[term.part.normaliser](term.stats, value)
    return term.is_low and 1 - part or part
end
--- What a node without data is taken for: the mean of the others.
local function meanGoodness(term)
    local ____term_stats_2 = term.stats
    local sorted = ____term_stats_2.sorted
    local size = ____term_stats_2.size
    if size == 0 then
        return MIDDLE
    end
    local sum = 0
    do
        local k = 0
        while k < size do
            sum = sum + goodness(term, sorted[k + 1])
            k = k + 1
        end
    end
    return sum / size
end
--- Looks at what is usual among the candidates, signal by signal: first step, once a snapshot.
-- 
-- @param candidates node numbers, the first `count` are valid
function ____exports.measureSignals(scorer, pool, candidates, count)
    do
        local i = 0
        while i < #scorer.terms do
            local term = scorer.terms[i + 1]
            sampleInto(term, pool, candidates, count)
            term.mean_goodness = meanGoodness(term)
            i = i + 1
        end
    end
end
--- Scores a part of the candidates against what was measured. Second step.
-- 
-- @param from first position to score
-- @param to position after the last
-- @param scores by node number: 0..1, 1 = best
function ____exports.scoreNodes(scorer, pool, candidates, from, to, scores)
    local weights = 0
    do
        local k = from
        while k < to do
            scores[candidates[k + 1] + 1] = 0
            k = k + 1
        end
    end
    do
        local i = 0
        while i < #scorer.terms do
            local term = scorer.terms[i + 1]
            local weight = term.part.weight
            local mean = term.mean_goodness
            do
                local k = from
                while k < to do
                    local node = candidates[k + 1]
                    local value = term.signal.read(pool, node)
                    local ____scores_3, ____temp_4 = scores, node + 1
                    ____scores_3[____temp_4] = ____scores_3[____temp_4] + weight * (value < 0 and mean or goodness(term, value))
                    k = k + 1
                end
            end
            weights = weights + weight
            i = i + 1
        end
    end
    do
        local k = from
        while k < to do
            scores[candidates[k + 1] + 1] = scores[candidates[k + 1] + 1] / weights
            k = k + 1
        end
    end
end
return ____exports
