local ____exports = {}
local ____weighted = require("resty.ax.core.weighted")
local buildAliasTable = ____weighted.buildAliasTable
local drawAlias = ____weighted.drawAlias
local drawWeighted = ____weighted.drawWeighted
local newAliasTable = ____weighted.newAliasTable
--- Stands in for weight 0: such a node loses every comparison, yet can be compared.
local MIN_WEIGHT = 1e-9
local function rebuild(state, pool)
    do
        local k = 0
        while k < pool.candidate_count do
            state.weights[k + 1] = pool.static_weight[pool.candidates[k + 1] + 1]
            k = k + 1
        end
    end
    buildAliasTable(state.table, state.weights, pool.candidate_count)
    state.version = pool.version
end
--- Peak EWMA × (in flight + 1), per weight; failures enter as in core/cost.ts, so that a fast failure is not fast.
local function load(state, pool, node)
    local latency_ms = state.peak and pool.peak_latency_ms[node + 1] or pool.latency_ms[node + 1]
    local in_flight = pool.in_flight[node + 1] - pool.long_in_flight[node + 1] + pool.others_in_flight[node + 1] + 1
    local success = pool.success[node + 1]
    local weight = pool.static_weight[node + 1]
    local share = success * success * success * (weight > MIN_WEIGHT and weight or MIN_WEIGHT)
    return latency_ms * in_flight / share
end
--- The two of a pool's own candidates, by table: constant time.
local function pickByTable(state, pool, candidates, count)
    if state.version ~= pool.version then
        rebuild(state, pool)
    end
    local first = drawAlias(state.table, state.random)
    if count < 2 then
        return candidates[first + 1]
    end
    local second = drawAlias(state.table, state.random)
    if second == first then
        second = drawAlias(state.table, state.random)
    end
    if second == first then
        second = drawAlias(state.table, state.random)
    end
    if second == first then
        second = first + 1 < count and first + 1 or 0
    end
    local node = candidates[first + 1]
    local other = candidates[second + 1]
    return load(state, pool, other) < load(state, pool, node) and other or node
end
--- The same for a list used once: there is no table of it.
local function pickFromList(state, pool, candidates, count)
    local node = drawWeighted(candidates, count, pool.static_weight, state.random)
    local other = drawWeighted(candidates, count, pool.static_weight, state.random)
    if other == node then
        other = drawWeighted(candidates, count, pool.static_weight, state.random)
    end
    return load(state, pool, other) < load(state, pool, node) and other or node
end
--- Power of two choices: of two different nodes drawn by weight, the one with less load, taken as peak
-- EWMA × (in flight + 1) as in Finagle (p2c/P2CLeastLoaded with PeakEwma) and tower (balance/p2c).
-- Mitzenmacher, "The Power of Two Choices in Randomized Load Balancing" (1996): the second look is what
-- takes the longest queue from log n / log log n to log log n.
-- 
-- Deviations: weights; failures; a bounded number of draws, because with one heavy node among light
-- ones "draw until different" has no bound.
____exports.p2c = {
    name = "p2c",
    options = {latency = {
        kind = "enum",
        values = {"peak", "mean"},
        default = "peak",
        doc = "Which latency is compared: `peak` rises at once with a slow answer and falls over 10 s, `mean` moves evenly.",
        reason = "a node that stalls is left at its first slow answer, as in Finagle"
    }},
    create = function(pool, options, random)
        local state = {
            random = random,
            peak = options.latency == "peak",
            table = newAliasTable(),
            weights = {},
            version = -1
        }
        if pool.candidate_count > 0 then
            rebuild(state, pool)
        end
        return state
    end,
    pick = function(state, pool, candidates, count)
        if candidates == pool.candidates then
            return pickByTable(state, pool, candidates, count)
        end
        return pickFromList(state, pool, candidates, count)
    end
}
return ____exports
