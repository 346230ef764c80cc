local ____exports = {}
--- Weighted least connections: the fewest requests in flight per weight, over all workers (own exact,
-- others' as of the last flush). Ties take turns, each worker starting elsewhere.
____exports.leastConn = {
    name = "least_conn",
    options = {},
    create = function(pool, _options, random)
        return {offset = pool.n > 0 and random.state % pool.n or 0}
    end,
    pick = function(state, pool, candidates, count)
        local at = state.offset + 1
        if at >= count then
            at = 0
        end
        state.offset = at
        local node = candidates[at + 1]
        local least = math.huge
        do
            local k = 0
            while k < count do
                local other = candidates[at + 1]
                local weight = pool.static_weight[other + 1]
                local load = (pool.in_flight[other + 1] + pool.others_in_flight[other + 1] + 1) / (weight > 0 and weight or 1e-9)
                if load < least then
                    least = load
                    node = other
                end
                at = at + 1
                if at >= count then
                    at = 0
                end
                k = k + 1
            end
        end
        return node
    end
}
return ____exports
