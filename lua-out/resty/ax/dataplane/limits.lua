local math_floor = math.floor
local ____exports = {}
local readOwn
local ____model = require("resty.ax.core.model")
local DEFAULT_CAPACITY = ____model.DEFAULT_CAPACITY
local ____values = require("resty.ax.core.values")
local asNumber = ____values.asNumber
local asRecord = ____values.asRecord
local ____wire = require("resty.ax.core.wire")
local limitsKey = ____wire.limitsKey
local ____slots = require("resty.ax.dataplane.slots")
local newSlots = ____slots.newSlots
local setLimit = ____slots.setLimit
function readOwn(store, upstream, decode)
    local slots = upstream.slots
    local text = store.get(limitsKey(upstream.config.name))
    if slots == nil or type(text) ~= "string" or text == upstream.limits_text then
        return
    end
    upstream.limits_text = text
    local limits = asRecord(decode(text))
    do
        local node = 0
        while node < upstream.pool.n do
            local ____asNumber_4 = asNumber
            local ____opt_0 = asRecord(limits and limits[upstream.pool.ids[node + 1]])
            local limit = ____asNumber_4(____opt_0 and ____opt_0.limit)
            if limit ~= nil and limit >= 1 then
                setLimit(
                    slots,
                    node,
                    math_floor(limit)
                )
            end
            node = node + 1
        end
    end
end
--- A limit that nobody chose fails no request: a node over it is left out while another one has room, no more.
local NO_REFUSAL = 1000000
--- Begins to keep the upstream's limits, exactly over all workers of the store.
-- 
-- @param holder this worker's number (core/slots.ts); 0 = none yet
function ____exports.attachSlots(upstream, store, holder)
    local config = upstream.config
    local limit = {}
    local overflow_ratio = {}
    local unchosen = {}
    do
        local node = 0
        while node < upstream.pool.n do
            local own = config.nodes[node + 1].max_conns
            local chosen = config.max_concurrency_per_node
            limit[node + 1] = own > 0 and own or (chosen or DEFAULT_CAPACITY)
            unchosen[node + 1] = own == 0 and chosen == nil
            overflow_ratio[node + 1] = own > 0 and 0 or (unchosen[node + 1] and NO_REFUSAL or config.max_overflow_ratio)
            node = node + 1
        end
    end
    upstream.slots = newSlots(
        store,
        holder,
        config.name,
        upstream.pool.ids,
        {
            limit = limit,
            overflow_ratio = overflow_ratio,
            unchosen = unchosen,
            moved_overflow_ratio = config.queue == nil and 0 or config.max_overflow_ratio,
            whole = config.max_concurrency or 0,
            cool_down_ms = config.overload_cool_down_s * 1000
        }
    )
end
--- Takes over adaptive limits that have moved. Flush; one read of the store for each upstream that has them.
-- 
-- @param decode from JSON; undefined when the text is not JSON
function ____exports.readLimits(store, upstreams, decode)
    for ____, upstream in ipairs(upstreams) do
        if upstream.config.adaptive_limit ~= nil then
            readOwn(store, upstream, decode)
        end
    end
end
return ____exports
