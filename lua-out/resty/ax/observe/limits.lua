local ____exports = {}
local ____slots = require("resty.ax.core.slots")
local totalKey = ____slots.totalKey
local ____tallies = require("resty.ax.core.tallies")
local tallyKey = ____tallies.tallyKey
local ____values = require("resty.ax.core.values")
local asCount = ____values.asCount
local function countOf(store, key)
    return asCount(store.get(key))
end
---
-- @returns what the status shows of an upstream's limits
function ____exports.limitStatus(store, config)
    local name = config.name
    local leased = 0
    for ____, node in ipairs(config.nodes) do
        leased = leased + countOf(
            store,
            totalKey(name, node.id)
        )
    end
    return {
        max_concurrency_per_node = config.max_concurrency_per_node,
        max_overflow_ratio = config.max_overflow_ratio,
        max_concurrency = config.max_concurrency,
        leased = leased,
        rejected = {overloaded = countOf(
            store,
            tallyKey(name, "rejected_overloaded")
        )},
        retries = {
            made = countOf(
                store,
                tallyKey(name, "retries")
            ),
            denied = countOf(
                store,
                tallyKey(name, "retries_denied")
            ),
            late = countOf(
                store,
                tallyKey(name, "retries_late")
            )
        }
    }
end
return ____exports
