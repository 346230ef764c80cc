local math_huge = math.huge
local ____exports = {}
local ____ring_options = require("resty.ax.core.ring_options")
local pointsPerNode = ____ring_options.pointsPerNode
local ____ring_walk = require("resty.ax.core.ring_walk")
local admit = ____ring_walk.admit
local clockwise = ____ring_walk.clockwise
local locate = ____ring_walk.locate
local newMembers = ____ring_walk.newMembers
local prepareMembers = ____ring_walk.prepareMembers
--- Up to so many candidates the sum is taken at every pick; above, once per millisecond of the clock.
local EXACT_SUM_MAX = 64
local function sumInFlight(state, pool, candidates, count, now_ms)
    if count > EXACT_SUM_MAX and state.summed_at_ms == now_ms then
        return state.in_flight
    end
    local sum = 0
    do
        local k = 0
        while k < count do
            sum = sum + (pool.in_flight[candidates[k + 1] + 1] + pool.others_in_flight[candidates[k + 1] + 1])
            k = k + 1
        end
    end
    state.in_flight = sum
    state.summed_at_ms = now_ms
    return sum
end
---
-- @returns requests that a node may have in flight per share
local function boundOf(state, pool, candidates, count, request)
    local shares = state.members.share_sum
    local in_flight = sumInFlight(
        state,
        pool,
        candidates,
        count,
        request.now_ms
    ) + 1
    return shares > 0 and state.load_factor * in_flight / shares or math_huge
end
--- Ketama-style consistent hashing: the request's key decides, whatever the load; a node that is out is
-- skipped, and its keys return to it when it does. With `load_factor`, consistent hashing with bounded
-- loads (Mirrokni, Thorup, Zadimoghaddam 2016; HAProxy's hash-balance-factor): a node that has more
-- than its share of the requests in flight times the factor is skipped too.
____exports.consistentHash = {
    name = "consistent_hash",
    uses_key = true,
    options = {points_per_node = pointsPerNode, points_by_weight = {kind = "boolean", default = false, doc = "Nodes get keys in proportion to their base weights. Changing one then moves keys from or to its node, " .. "and no others.", reason = "without it, no edit of a weight moves a key"}, load_factor = {
        kind = "number",
        min = 1.01,
        max = 100,
        or_zero = true,
        default = 0,
        doc = "A node that has more than so many times its share of the requests in flight is skipped for new ones; " .. "0 = no bound. 1.25 is usual: no node over 1.25 times the mean. At 1 and below there would be no room anywhere.",
        reason = "the same key always goes to the same node; bounds give that up under load"
    }},
    create = function(pool, options)
        return {
            members = newMembers(pool, options.points_per_node, options.points_by_weight == true),
            load_factor = options.load_factor,
            in_flight = 0,
            summed_at_ms = -1
        }
    end,
    prepare = function(state, pool)
        return prepareMembers(state.members, pool)
    end,
    pick = function(state, pool, candidates, count, request)
        local members = state.members
        locate(members, request.key)
        admit(members, pool, candidates, count)
        local bound = state.load_factor > 0 and boundOf(
            state,
            pool,
            candidates,
            count,
            request
        ) or math_huge
        return clockwise(
            members,
            pool,
            candidates,
            count,
            request.key,
            bound
        )
    end
}
return ____exports
