local ____exports = {}
local ____cost = require("resty.ax.core.cost")
local cheapest = ____cost.cheapest
local cost = ____cost.cost
local ____weighted = require("resty.ax.core.weighted")
local buildAliasTable = ____weighted.buildAliasTable
local drawAlias = ____weighted.drawAlias
local newAliasTable = ____weighted.newAliasTable
--- A node that fails is revisited this much less often at most: exploring it costs users' requests.
local MAX_REVISIT_FACTOR = 30
--- Picks between two looks for overdue nodes while none is: the look costs as much as a pick.
local RECHECK_PICKS = 10
--- The idle candidate unpicked for longest, if it is overdue: without a request now and then, a node
-- that was slow once would stay "slow" for ever, for want of news. Looks at `scan_limit` candidates
-- from the moving offset on.
-- 
-- @returns a node number, or -1
local function overdue(state, pool, candidates, count, now_ms)
    local node = -1
    local longest = 1
    local window = count < state.scan_limit and count or state.scan_limit
    local at = state.offset
    do
        local k = 0
        while k < window do
            local other = candidates[at + 1]
            at = at + 1
            if at >= count then
                at = 0
            end
            if pool.in_flight[other + 1] + pool.others_in_flight[other + 1] == 0 and pool.weight[other + 1] > 0 then
                local success = pool.success[other + 1]
                local factor = 1 / (success * success * success)
                if factor > MAX_REVISIT_FACTOR then
                    factor = MAX_REVISIT_FACTOR
                end
                local late = (now_ms - pool.last_pick_ms[other + 1]) / (state.revisit_ms * factor)
                if late > longest then
                    longest = late
                    node = other
                end
            end
            k = k + 1
        end
    end
    return node
end
local function rebuild(state, pool)
    do
        local k = 0
        while k < pool.candidate_count do
            state.weights[k + 1] = pool.weight[pool.candidates[k + 1] + 1]
            k = k + 1
        end
    end
    buildAliasTable(state.table, state.weights, pool.candidate_count)
    state.version = pool.version
end
--- The least cost among a few candidates drawn by weight: for pools too large to look at whole.
local function sampled(state, pool, candidates, now_ms)
    if state.version ~= pool.version then
        rebuild(state, pool)
    end
    local node = candidates[drawAlias(state.table, state.random) + 1]
    local least = cost(pool, node, now_ms)
    do
        local k = 1
        while k < state.sample do
            local other = candidates[drawAlias(state.table, state.random) + 1]
            local other_cost = cost(pool, other, now_ms)
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
    local offset = state.offset + 1
    if offset >= count then
        offset = 0
    end
    state.offset = offset
    state.since_revisit = state.since_revisit + 1
    if state.since_revisit >= state.revisit_every and request.tries == 0 then
        local node = overdue(
            state,
            pool,
            candidates,
            count,
            request.now_ms
        )
        if node >= 0 then
            state.since_revisit = 0
            return node
        end
        state.since_revisit = state.revisit_every - RECHECK_PICKS
    end
    if count > state.scan_limit and candidates == pool.candidates then
        return sampled(state, pool, candidates, request.now_ms)
    end
    return cheapest(
        pool,
        candidates,
        count,
        offset,
        request.now_ms
    )
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
        doc = "At most one pick in so many is such a revisit, so that a slow node cannot show in the P99 of a quiet " .. "upstream: 250 is 0.4 %."
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
        default = 6,
        doc = "How many nodes are drawn and compared above `scan_limit`."
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
            table = newAliasTable(),
            weights = {},
            version = -1
        }
    end,
    pick = pick
}
return ____exports
