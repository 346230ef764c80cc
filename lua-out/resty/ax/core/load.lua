local ____exports = {}
--- Stands in for weight 0: such a node is loaded more than any other as soon as it has a request.
local MIN_WEIGHT = 1e-9
--- Requests in flight over all workers (own exact, others' as of the last flush) per weight.
-- 
-- @param weights pool.weight or pool.static_weight
function ____exports.loadOf(pool, weights, node)
    local weight = weights[node + 1]
    return (pool.in_flight[node + 1] + pool.others_in_flight[node + 1]) / (weight > MIN_WEIGHT and weight or MIN_WEIGHT)
end
--- The candidate with the least load; among equals, the first from `offset` on.
-- 
-- @param weights pool.weight or pool.static_weight
-- @param offset 0 .. count-1
function ____exports.leastLoaded(pool, weights, candidates, count, offset)
    local node = candidates[offset + 1]
    local least = ____exports.loadOf(pool, weights, node)
    do
        local k = 1
        while k < count do
            local other = candidates[(offset + k < count and offset + k or offset + k - count) + 1]
            local load = ____exports.loadOf(pool, weights, other)
            if load < least then
                least = load
                node = other
            end
            k = k + 1
        end
    end
    return node
end
return ____exports
