local math_huge = math.huge
local math_min = math.min
local ____exports = {}
local ____cost = require("resty.ax.core.cost")
local cheapest = ____cost.cheapest
local cost = ____cost.cost
local ____node_table = require("resty.ax.core.node_table")
local drawNode = ____node_table.drawNode
local fillNodeTable = ____node_table.fillNodeTable
local newNodeTable = ____node_table.newNodeTable
--- A node that fails is revisited this much less often at most: exploring it costs users' requests.
local MAX_REVISIT_FACTOR = 30
--- Parts of `revisit_ms` between two looks for overdue nodes: the look costs as much as a pick.
local LOOKS_PER_REVISIT = 20
--- A node whose latency is within this many times the best choice's can be revisited without hurting the P99.
local CHEAP_LATENCIES = 2
--- Nor can one that fails no more often than this show as errors.
local CHEAP_SUCCESS = 0.95
--- How overdue a request to the node is: over 1 means due. A node with requests in flight that it does not answer is
-- due as well, each time after as long as all its waiting before: they may be long ones, and one answer tells.
local function lateness(state, pool, node, now_ms)
    local idle_ms = now_ms - pool.last_pick_ms[node + 1]
    local oldest_ms = pool.oldest_start_ms[node + 1]
    if oldest_ms > 0 then
        if idle_ms <= pool.last_pick_ms[node + 1] - oldest_ms then
            return 0
        end
    elseif pool.in_flight[node + 1] - pool.long_in_flight[node + 1] + pool.others_in_flight[node + 1] > 0 then
        return 0
    end
    local success = pool.success[node + 1]
    local factor = math_min(MAX_REVISIT_FACTOR, 1 / (success * success * success))
    return idle_ms / (state.revisit_ms * factor)
end
--- The candidate that is most overdue: without a request now and then, a node that was slow once would stay "slow" for
-- ever, for want of news. Looks at `scan_limit` candidates from the moving offset on.
-- 
-- @param best the node that would be picked otherwise
-- @param dear whether nodes are considered that are slow or fail: they count against `revisit_every`
-- @returns a node number, or -1
local function overdue(state, pool, candidates, count, best, dear, now_ms)
    local node = -1
    local latest = 1
    local cheap_ms = pool.latency_ms[best + 1] * CHEAP_LATENCIES
    local window = math_min(count, state.scan_limit)
    local at = state.offset < count and state.offset or 0
    do
        local k = 0
        while k < window do
            local other = candidates[at + 1]
            at = at + 1
            if at >= count then
                at = 0
            end
            local is_cheap = pool.latency_ms[other + 1] <= cheap_ms and pool.success[other + 1] >= CHEAP_SUCCESS
            if pool.static_weight[other + 1] > 0 and (dear or is_cheap) then
                local late = lateness(state, pool, other, now_ms)
                if late > latest then
                    latest = late
                    node = other
                end
            end
            k = k + 1
        end
    end
    return node
end
--- The least cost among a few candidates drawn by weight: for pools too large to look at whole.
-- 
-- @returns -1 when all nodes of the table have gone out since the last flush
local function sampled(state, pool, now_ms)
    local node = -1
    local least = math_huge
    do
        local k = 0
        while k < state.sample do
            local other = drawNode(state.nodes, pool, state.random)
            local other_cost = other < 0 and math_huge or cost(pool, other, now_ms)
            if other_cost < least then
                least = other_cost
                node = other
            end
            k = k + 1
        end
    end
    return node
end
local function pick(state, pool, candidates, count, request)
    local now_ms = request.now_ms
    local at = state.offset % count
    local best = -1
    if count > state.scan_limit and candidates == pool.candidates then
        best = sampled(state, pool, now_ms)
    end
    if best < 0 then
        at = cheapest(
            pool,
            candidates,
            count,
            at,
            now_ms
        )
        best = candidates[at + 1]
    end
    state.offset = at + 1
    if request.tries > 0 then
        return best
    end
    state.since_revisit = state.since_revisit + 1
    if now_ms - state.looked_at_ms < state.revisit_ms / LOOKS_PER_REVISIT then
        return best
    end
    state.looked_at_ms = now_ms
    local dear = state.since_revisit >= state.revisit_every
    local node = overdue(
        state,
        pool,
        candidates,
        count,
        best,
        dear,
        now_ms
    )
    if node < 0 then
        return best
    end
    if dear then
        state.since_revisit = 0
    end
    return node
end
--- The default: live cost (core/cost.ts) over the collector's weights.
____exports.adaptive = {
    name = "adaptive",
    options = {revisit_ms = {
        kind = "number",
        min = 50,
        max = 60000,
        default = 1000,
        doc = "An idle node gets a request of this worker after so long, to learn whether it is still slow. " .. "1 s: a recovered node is noticed within seconds."
    }, revisit_every = {
        kind = "number",
        integer = true,
        min = 1,
        max = 1000000,
        default = 250,
        doc = "At most one pick in so many is such a revisit of a node that is slow or fails (others cost nothing), so that " .. "it cannot show in the P99 of a quiet upstream: 250 is 0.4 %."
    }, scan_limit = {
        kind = "number",
        integer = true,
        min = 1,
        max = 10000,
        default = 64,
        doc = "Up to so many usable nodes the cost of every one is compared; above it, of a few drawn by weight. " .. "64 nodes take about a microsecond."
    }, sample = {
        kind = "number",
        integer = true,
        min = 2,
        max = 64,
        default = 24,
        doc = "How many nodes are drawn and compared above `scan_limit`. With 200 nodes, the P99 is 28 % above that of one " .. "queue with 3, 18 % with 6, 9 % with 24, which cost less than 64 nodes compared one by one."
    }},
    create = function(pool, options, random)
        return {
            random = random,
            revisit_ms = options.revisit_ms,
            revisit_every = options.revisit_every,
            scan_limit = options.scan_limit,
            sample = options.sample,
            offset = pool.n > 0 and random.state % pool.n or 0,
            since_revisit = 0,
            looked_at_ms = 0,
            nodes = newNodeTable()
        }
    end,
    prepare = function(state, pool)
        local is_stale = pool.candidate_count > state.scan_limit and state.nodes.version ~= pool.version
        if is_stale then
            fillNodeTable(state.nodes, pool, pool.weight)
        end
        return false
    end,
    pick = pick
}
return ____exports
