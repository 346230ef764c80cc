local math_huge = math.huge
local ____exports = {}
local ____node_table = require("resty.ax.core.node_table")
local closeNodeTable = ____node_table.closeNodeTable
local drawNode = ____node_table.drawNode
local newNodeTable = ____node_table.newNodeTable
local ____random = require("resty.ax.core.random")
local draw = ____random.draw
--- How old the table may grow before a flush builds a new one: within that, a node that becomes faster gains its share.
local REBUILD_MS = 100
--- No node falls under this share of the fastest one's traffic for being slow: it could never be seen to recover.
local MIN_SHARE = 0.01
--- Mean latency ÷ success³; a latency of few samples is not believed, the mean of the others stands in.
local function responseMs(state, pool, node)
    local success = pool.success[node + 1]
    local latency_ms = pool.samples[node + 1] >= state.min_samples and pool.latency_ms[node + 1] or state.typical_ms
    return latency_ms / (success * success * success)
end
local function weightOf(state, pool, node)
    local success = pool.success[node + 1]
    local failing = success * success * success
    local speed = (state.least_ms / (responseMs(state, pool, node) * failing)) ^ state.sharpness
    local share = speed > MIN_SHARE and speed or MIN_SHARE
    return pool.static_weight[node + 1] * share * failing ^ state.sharpness
end
--- What a believed node usually takes, and what the fastest takes.
local function compare(state, pool)
    local sum_ms = 0
    local believed = 0
    do
        local k = 0
        while k < pool.candidate_count do
            local node = pool.candidates[k + 1]
            if pool.samples[node + 1] >= state.min_samples then
                sum_ms = sum_ms + pool.latency_ms[node + 1]
                believed = believed + 1
            end
            k = k + 1
        end
    end
    state.typical_ms = believed > 0 and sum_ms / believed or 1
    local least_ms = math_huge
    do
        local k = 0
        while k < pool.candidate_count do
            local node = pool.candidates[k + 1]
            local latency_ms = pool.samples[node + 1] >= state.min_samples and pool.latency_ms[node + 1] or state.typical_ms
            if latency_ms < least_ms then
                least_ms = latency_ms
            end
            k = k + 1
        end
    end
    state.least_ms = least_ms
end
local function rebuild(state, pool, now_ms)
    compare(state, pool)
    local ____state_nodes_0 = state.nodes
    local nodes = ____state_nodes_0.nodes
    local weights = ____state_nodes_0.weights
    do
        local k = 0
        while k < pool.candidate_count do
            local node = pool.candidates[k + 1]
            nodes[k + 1] = node
            weights[k + 1] = weightOf(state, pool, node)
            state.built_ms[node + 1] = responseMs(state, pool, node)
            k = k + 1
        end
    end
    closeNodeTable(state.nodes, pool.candidate_count, pool.version)
    state.built_at_ms = now_ms
end
--- Whether a drawn node keeps its draw: for sure unless it has become slower or failed since the table was built.
local function keeps(state, pool, node)
    local ratio = state.built_ms[node + 1] / responseMs(state, pool, node)
    return ratio >= 1 or draw(state.random) < ratio ^ state.sharpness
end
--- Up to three draws by table; the last is taken as it is. No loop: of so few rounds LuaJIT makes no good trace.
-- 
-- @returns -1 when the table has no candidate
local function pickByTable(state, pool)
    local node = drawNode(state.nodes, pool, state.random)
    if node < 0 or keeps(state, pool, node) then
        return node
    end
    node = drawNode(state.nodes, pool, state.random)
    if node < 0 or keeps(state, pool, node) then
        return node
    end
    return drawNode(state.nodes, pool, state.random)
end
local function pickFromList(state, pool, candidates, count)
    local total = 0
    do
        local k = 0
        while k < count do
            total = total + weightOf(state, pool, candidates[k + 1])
            k = k + 1
        end
    end
    local left = draw(state.random) * (total > 0 and total or count)
    do
        local k = 0
        while k < count do
            left = left - (total > 0 and weightOf(state, pool, candidates[k + 1]) or 1)
            if left < 0 then
                return candidates[k + 1]
            end
            k = k + 1
        end
    end
    return candidates[count]
end
--- By response time: each node in proportion to weight ÷ (mean latency ÷ success³)^sharpness.
-- 
-- Weighted random, not "the fastest wins": the fastest of one moment would get everything, from every
-- worker and gateway, until it is the slowest (Mitzenmacher, "How Useful Is Old Information?", 2000).
____exports.fastest = {
    name = "fastest",
    options = {min_samples = {
        kind = "number",
        integer = true,
        min = 1,
        max = 10000,
        default = 20,
        doc = "Fewer answers than this say too little of a node's speed: it counts as fast as the mean of the others.",
        reason = "the mean of 20 exponential times is within 45 % of the truth, 19 times of 20"
    }, sharpness = {
        kind = "number",
        min = 0.5,
        max = 8,
        default = 2,
        doc = "How much faster nodes are preferred: at 1, one twice as fast gets twice the requests; at 2, four times.",
        reason = "at 1 every node has as many requests in flight as the fastest; at 8 the fastest gets all and slows down"
    }},
    create = function(pool, options, random)
        local built_ms = {}
        do
            local node = 0
            while node < pool.n do
                built_ms[node + 1] = 0
                node = node + 1
            end
        end
        return {
            random = random,
            min_samples = options.min_samples,
            sharpness = options.sharpness,
            nodes = newNodeTable(),
            built_ms = built_ms,
            built_at_ms = 0,
            typical_ms = 1,
            least_ms = 1
        }
    end,
    prepare = function(state, pool, now_ms)
        local is_stale = state.nodes.version ~= pool.version or now_ms - state.built_at_ms >= REBUILD_MS
        if is_stale then
            rebuild(state, pool, now_ms)
        end
        return false
    end,
    pick = function(state, pool, candidates, count)
        if candidates == pool.candidates then
            local node = pickByTable(state, pool)
            if node >= 0 then
                return node
            end
        end
        return pickFromList(state, pool, candidates, count)
    end
}
return ____exports
