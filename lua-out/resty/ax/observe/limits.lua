local ____exports = {}
local ____slots = require("resty.ax.core.slots")
local totalKey = ____slots.totalKey
local ____tallies = require("resty.ax.core.tallies")
local tallyKey = ____tallies.tallyKey
local ____values = require("resty.ax.core.values")
local asCount = ____values.asCount
local asNumber = ____values.asNumber
local asRecord = ____values.asRecord
local ____wire = require("resty.ax.core.wire")
local limitsKey = ____wire.limitsKey
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
---
-- @returns the adaptive limits as the collector has published them, by node id; undefined = there are none
function ____exports.readAdaptive(store, decode, config)
    local ____temp_0
    if config.adaptive_limit == nil then
        ____temp_0 = nil
    else
        ____temp_0 = store.get(limitsKey(config.name))
    end
    local text = ____temp_0
    local ____temp_1
    if type(text) == "string" then
        ____temp_1 = asRecord(decode(text))
    else
        ____temp_1 = nil
    end
    return ____temp_1
end
---
-- @param published by `readAdaptive`
function ____exports.nodeLimit(config, given, published)
    local own = given.max_conns > 0 and given.max_conns or config.max_concurrency_per_node
    local found = asRecord(published and published[given.id])
    if found == nil then
        return {limit = own}
    end
    local limit = asNumber(found.limit)
    return {
        limit = limit,
        adaptive = {
            operating = asNumber(found.operating),
            base_ms = asNumber(found.base_ms),
            latency_ms = asNumber(found.latency_ms),
            measuring = found.measuring == true
        }
    }
end
return ____exports
