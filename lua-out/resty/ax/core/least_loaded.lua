local ____exports = {}
--- Stands in for weight 0: such a node is loaded more than any other, yet stays comparable.
local MIN_WEIGHT = 1e-9
--- Requests in flight over all workers per weight, were the node to get one more.
function ____exports.loadOf(pool, weights, node)
    local weight = weights[node + 1]
    return (pool.in_flight[node + 1] + pool.others_in_flight[node + 1] + 1) / (weight > MIN_WEIGHT and weight or MIN_WEIGHT)
end
--- The candidate with the least load; among equals, the first from `offset` on.
-- 
-- @param weights pool.weight or pool.static_weight
-- @param offset 0 .. count-1
function ____exports.leastLoaded(pool, weights, candidates, count, offset)
    local node = candidates[offset + 1]
    local least = math.huge
    local at = offset
    do
        local k = 0
        while k < count do
            local other = candidates[at + 1]
            local load = ____exports.loadOf(pool, weights, other)
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
return ____exports
