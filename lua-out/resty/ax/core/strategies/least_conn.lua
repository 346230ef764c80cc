local math_huge = math.huge
local ____exports = {}
local ____node_table = require("resty.ax.core.node_table")
local drawNode = ____node_table.drawNode
local fillNodeTable = ____node_table.fillNodeTable
local newNodeTable = ____node_table.newNodeTable
local ____turns = require("resty.ax.core.turns")
local newTurns = ____turns.newTurns
local takeTurn = ____turns.takeTurn
local updateTurns = ____turns.updateTurns
--- Requests in flight per weight. Nodes of weight 0 are for when there is nothing else.
local function loadOf(pool, node)
    local weight = pool.static_weight[node + 1]
    return weight > 0 and (pool.in_flight[node + 1] + pool.others_in_flight[node + 1]) / weight or math_huge
end
local function scan(state, pool, candidates, count)
    local due = state.turns.due
    state.offset = state.offset + 1 < count and state.offset + 1 or 0
    local node = candidates[state.offset + 1]
    local least = loadOf(pool, node)
    do
        local k = 0
        while k < count do
            local other = candidates[k + 1]
            local load = loadOf(pool, other)
            if load < least or load == least and due[other + 1] < due[node + 1] then
                least = load
                node = other
            end
            k = k + 1
        end
    end
    return node
end
---
-- @returns -1 when all nodes of the table have gone out since the last flush
local function sampled(state, pool)
    local node = drawNode(state.nodes, pool, state.random)
    if node < 0 then
        return -1
    end
    local least = loadOf(pool, node)
    do
        local k = 1
        while k < state.sample do
            local other = drawNode(state.nodes, pool, state.random)
            local load = other < 0 and math_huge or loadOf(pool, other)
            if load < least then
                least = load
                node = other
            end
            k = k + 1
        end
    end
    return node
end
--- Weighted least connections, as in nginx (ngx_http_upstream_least_conn_module.c): the fewest requests in flight per
-- weight; nodes that are equal take turns by weight, so that an idle upstream follows the weights, too.
-- 
-- Deviations: requests of all workers count (own exact, others' as of the last flush). Of more than `scan_limit`
-- nodes, `sample` are drawn by weight and compared: "the power of d choices" (Mitzenmacher 1996) instead of a look at
-- every node, which takes longer than the request.
____exports.leastConn = {
    name = "least_conn",
    options = {scan_limit = {
        kind = "number",
        integer = true,
        min = 1,
        max = 10000,
        default = 128,
        doc = "Up to so many usable nodes all are compared; above it, a few drawn by weight.",
        reason = "128 nodes take about half a microsecond"
    }, sample = {
        kind = "number",
        integer = true,
        min = 2,
        max = 64,
        default = 8,
        doc = "How many nodes are drawn and compared above `scan_limit`.",
        reason = "with half of the nodes busy, all 8 are in one pick of 256"
    }},
    create = function(pool, options, random)
        return {
            random = random,
            scan_limit = options.scan_limit,
            sample = options.sample,
            turns = newTurns(pool, random),
            version = -1,
            nodes = newNodeTable(),
            offset = 0
        }
    end,
    prepare = function(state, pool)
        if state.version == pool.version then
            return false
        end
        updateTurns(state.turns, pool)
        if pool.candidate_count > state.scan_limit then
            fillNodeTable(state.nodes, pool, pool.static_weight)
        end
        state.version = pool.version
        return false
    end,
    pick = function(state, pool, candidates, count)
        local node = -1
        if count > state.scan_limit and candidates == pool.candidates then
            node = sampled(state, pool)
        end
        if node < 0 then
            node = scan(state, pool, candidates, count)
        end
        takeTurn(state.turns, node)
        return node
    end
}
return ____exports
