local ____exports = {}
local ____node_table = require("resty.ax.core.node_table")
local drawNode = ____node_table.drawNode
local fillNodeTable = ____node_table.fillNodeTable
local newNodeTable = ____node_table.newNodeTable
local ____weighted = require("resty.ax.core.weighted")
local drawWeighted = ____weighted.drawWeighted
--- Weighted random: each node in proportion to its weight, whatever its load.
____exports.random = {
    name = "random",
    options = {},
    create = function(_pool, _options, source)
        return {
            random = source,
            nodes = newNodeTable()
        }
    end,
    prepare = function(state, pool)
        if state.nodes.version ~= pool.version then
            fillNodeTable(state.nodes, pool, pool.static_weight)
        end
        return false
    end,
    pick = function(state, pool, candidates, count)
        if candidates == pool.candidates then
            local node = drawNode(state.nodes, pool, state.random)
            if node >= 0 then
                return node
            end
        end
        return drawWeighted(candidates, count, pool.static_weight, state.random)
    end
}
return ____exports
