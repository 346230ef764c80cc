local ____exports = {}
local ____weighted = require("resty.ax.core.weighted")
local buildAliasTable = ____weighted.buildAliasTable
local drawAlias = ____weighted.drawAlias
local newAliasTable = ____weighted.newAliasTable
--- Makes the table from `nodes` and `weights`.
-- 
-- @param count how many of them are valid
function ____exports.closeNodeTable(nodes, count, version)
    buildAliasTable(nodes.table, nodes.weights, count)
    nodes.version = version
end
--- Draws until the table is given up: with half of its nodes gone, one pick in 256 gets there.
local DRAWS_MAX = 8
function ____exports.newNodeTable()
    return {
        nodes = {},
        weights = {},
        table = newAliasTable(),
        version = -1
    }
end
--- Takes over the pool's candidates with the given weights by node.
function ____exports.fillNodeTable(nodes, pool, weights)
    do
        local k = 0
        while k < pool.candidate_count do
            local node = pool.candidates[k + 1]
            nodes.nodes[k + 1] = node
            nodes.weights[k + 1] = weights[node + 1]
            k = k + 1
        end
    end
    ____exports.closeNodeTable(nodes, pool.candidate_count, pool.version)
end
--- The slow way: the first draw gave a node that is no candidate any more.
local function drawAgain(nodes, pool, random)
    do
        local k = 1
        while k < DRAWS_MAX do
            local node = nodes.nodes[drawAlias(nodes.table, random) + 1]
            if pool.candidate_of[node + 1] == pool.version then
                return node
            end
            k = k + 1
        end
    end
    return -1
end
---
-- @returns a candidate of the pool, by weight; -1 when the table has none (all of its nodes went out at once)
function ____exports.drawNode(nodes, pool, random)
    if nodes.table.n == 0 then
        return -1
    end
    local node = nodes.nodes[drawAlias(nodes.table, random) + 1]
    return pool.candidate_of[node + 1] == pool.version and node or drawAgain(nodes, pool, random)
end
return ____exports
