local ____exports = {}
local ____random = require("resty.ax.core.random")
local draw = ____random.draw
--- Smooth weighted round robin, as in nginx (ngx_http_upstream_round_robin.c): every pick adds each
-- node's weight to its credit, takes the node with the most, and charges it the total. A node of
-- weight 5 is spread among the others instead of being picked five times in a row.
-- 
-- Deviation: credits start at random, so that many workers do not all begin at the first node.
____exports.roundRobin = {
    name = "round_robin",
    options = {},
    create = function(pool, _options, random)
        local credit = {}
        do
            local node = 0
            while node < pool.n do
                credit[node + 1] = draw(random) * pool.static_weight[node + 1]
                node = node + 1
            end
        end
        return {credit = credit}
    end,
    pick = function(state, pool, candidates, count)
        local credit = state.credit
        local node = candidates[1]
        local most = -math.huge
        local total = 0
        do
            local k = 0
            while k < count do
                local other = candidates[k + 1]
                local weight = pool.static_weight[other + 1]
                total = total + weight
                local raised = credit[other + 1] + weight
                credit[other + 1] = raised
                if raised > most then
                    most = raised
                    node = other
                end
                k = k + 1
            end
        end
        credit[node + 1] = most - (total > 0 and total or 1)
        return node
    end
}
return ____exports
