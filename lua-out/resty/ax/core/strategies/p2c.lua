local ____exports = {}
local ____node_table = require("resty.ax.core.node_table")
local drawNode = ____node_table.drawNode
local fillNodeTable = ____node_table.fillNodeTable
local newNodeTable = ____node_table.newNodeTable
local ____weighted = require("resty.ax.core.weighted")
local drawWeighted = ____weighted.drawWeighted
--- Stands in for weight 0: such a node loses every comparison, yet can be compared.
local MIN_WEIGHT = 1e-9
--- Peak EWMA × (in flight + 1), per weight; failures enter as in core/cost.ts, so that a fast failure is not fast.
local function load(state, pool, node)
    local latency_ms = state.peak and pool.peak_latency_ms[node + 1] or pool.latency_ms[node + 1]
    local in_flight = pool.in_flight[node + 1] - pool.long_in_flight[node + 1] + pool.others_in_flight[node + 1] + 1
    local success = pool.success[node + 1]
    local weight = pool.static_weight[node + 1]
    local share = success * success * success * (weight > MIN_WEIGHT and weight or MIN_WEIGHT)
    return latency_ms * in_flight / share
end
--- One of the candidates other than the node, where there is one.
local function neighbour(candidates, count, node)
    return candidates[1] == node and candidates[count] or candidates[1]
end
--- The two of a pool's own candidates, by table: constant time. -1 when the table has none of them.
local function pickByTable(state, pool, candidates, count)
    local node = drawNode(state.nodes, pool, state.random)
    if node < 0 or count < 2 then
        return node
    end
    local other = drawNode(state.nodes, pool, state.random)
    if other == node then
        other = drawNode(state.nodes, pool, state.random)
    end
    if other == node then
        other = drawNode(state.nodes, pool, state.random)
    end
    if other == node or other < 0 then
        other = neighbour(candidates, count, node)
    end
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
    create = function(_pool, options, random)
        return {
            random = random,
            peak = options.latency == "peak",
            nodes = newNodeTable()
        }
    end,
    prepare = function(state, pool)
        if state.nodes.version ~= pool.version then
            fillNodeTable(state.nodes, pool, pool.static_weight)
        end
        return false
    end,
    pick = function(state, pool, candidates, count)
        if candidates == pool.candidates then
            local node = pickByTable(state, pool, candidates, count)
            if node >= 0 then
                return node
            end
        end
        return pickFromList(state, pool, candidates, count)
    end
}
return ____exports
