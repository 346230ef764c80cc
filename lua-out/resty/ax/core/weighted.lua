local math_floor = math.floor
local ____exports = {}
local ____random = require("resty.ax.core.random")
local draw = ____random.draw
function ____exports.newAliasTable()
    return {
        n = 0,
        threshold = {},
        alias = {},
        scaled = {},
        small = {},
        large = {}
    }
end
--- Fills the table for items 0..n-1. When no weight is positive, all items are equal.
-- 
-- @param weights weights[k] ≥ 0
function ____exports.buildAliasTable(____table, weights, n)
    local total = 0
    do
        local k = 0
        while k < n do
            total = total + weights[k + 1]
            k = k + 1
        end
    end
    local ____table_0 = ____table
    local scaled = ____table_0.scaled
    local small = ____table_0.small
    local large = ____table_0.large
    local smalls = 0
    local larges = 0
    do
        local k = 0
        while k < n do
            scaled[k + 1] = total > 0 and weights[k + 1] * n / total or 1
            ____table.threshold[k + 1] = 1
            ____table.alias[k + 1] = k
            if scaled[k + 1] < 1 then
                local ____small_2 = small
                local ____smalls_1 = smalls
                smalls = ____smalls_1 + 1
                ____small_2[____smalls_1 + 1] = k
            else
                local ____large_4 = large
                local ____larges_3 = larges
                larges = ____larges_3 + 1
                ____large_4[____larges_3 + 1] = k
            end
            k = k + 1
        end
    end
    while smalls > 0 and larges > 0 do
        local ____small_5 = small
        smalls = smalls - 1
        local less = ____small_5[smalls + 1]
        local more = large[larges]
        ____table.threshold[less + 1] = scaled[less + 1]
        ____table.alias[less + 1] = more
        scaled[more + 1] = scaled[more + 1] - (1 - scaled[less + 1])
        if scaled[more + 1] < 1 then
            larges = larges - 1
            local ____small_7 = small
            local ____smalls_6 = smalls
            smalls = ____smalls_6 + 1
            ____small_7[____smalls_6 + 1] = more
        end
    end
    ____table.n = n
end
---
-- @returns an item 0 .. n-1; the table must have been built for at least one item
function ____exports.drawAlias(____table, random)
    local column = draw(random) * ____table.n
    local k = math_floor(column)
    return column - k < ____table.threshold[k + 1] and k or ____table.alias[k + 1]
end
--- One weighted draw without a table, for lists used once (retries).
-- 
-- @param weights by item, items listed in `items[0..count-1]`
-- @returns one of the items; each alike when no weight is positive
function ____exports.drawWeighted(items, count, weights, random)
    local total = 0
    do
        local k = 0
        while k < count do
            total = total + weights[items[k + 1] + 1]
            k = k + 1
        end
    end
    local left = draw(random) * (total > 0 and total or count)
    do
        local k = 0
        while k < count do
            left = left - (total > 0 and weights[items[k + 1] + 1] or 1)
            if left < 0 then
                return items[k + 1]
            end
            k = k + 1
        end
    end
    return items[count]
end
return ____exports
