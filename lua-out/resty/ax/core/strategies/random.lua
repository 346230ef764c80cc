local ____exports = {}
local ____weighted = require("resty.ax.core.weighted")
local buildAliasTable = ____weighted.buildAliasTable
local drawAlias = ____weighted.drawAlias
local drawWeighted = ____weighted.drawWeighted
local newAliasTable = ____weighted.newAliasTable
local function rebuild(state, pool)
    do
        local k = 0
        while k < pool.candidate_count do
            state.weights[k + 1] = pool.static_weight[pool.candidates[k + 1] + 1]
            k = k + 1
        end
    end
    buildAliasTable(state.table, state.weights, pool.candidate_count)
    state.version = pool.version
end
--- Weighted random: each node in proportion to its weight, whatever its load.
____exports.random = {
    name = "random",
    options = {},
    create = function(pool, _options, source)
        local state = {
            random = source,
            table = newAliasTable(),
            weights = {},
            version = -1
        }
        if pool.candidate_count > 0 then
            rebuild(state, pool)
        end
        return state
    end,
    pick = function(state, pool, candidates, count)
        if candidates ~= pool.candidates then
            return drawWeighted(candidates, count, pool.static_weight, state.random)
        end
        if state.version ~= pool.version then
            rebuild(state, pool)
        end
        return candidates[drawAlias(state.table, state.random) + 1]
    end
}
return ____exports
