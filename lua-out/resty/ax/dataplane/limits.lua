local ____exports = {}
local ____model = require("resty.ax.core.model")
local DEFAULT_CAPACITY = ____model.DEFAULT_CAPACITY
local ____slots = require("resty.ax.dataplane.slots")
local newSlots = ____slots.newSlots
--- A limit that nobody chose fails no request: a node over it is left out while another one has room, no more.
local NO_REFUSAL = 1000000
--- Begins to keep the upstream's limits, exactly over all workers of the store.
-- 
-- @param holder this worker's number (core/slots.ts); 0 = none yet
function ____exports.attachSlots(upstream, store, holder)
    local config = upstream.config
    local limit = {}
    local overflow_ratio = {}
    do
        local node = 0
        while node < upstream.pool.n do
            local own = config.nodes[node + 1].max_conns
            local chosen = config.max_concurrency_per_node
            limit[node + 1] = own > 0 and own or (chosen or DEFAULT_CAPACITY)
            overflow_ratio[node + 1] = own > 0 and 0 or (chosen == nil and NO_REFUSAL or config.max_overflow_ratio)
            node = node + 1
        end
    end
    upstream.slots = newSlots(
        store,
        holder,
        config.name,
        upstream.pool.ids,
        {limit = limit, overflow_ratio = overflow_ratio, whole = config.max_concurrency or 0, cool_down_ms = config.overload_cool_down_s * 1000}
    )
end
return ____exports
