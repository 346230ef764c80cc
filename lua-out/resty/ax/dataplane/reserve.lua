local ____exports = {}
local ____cost = require("resty.ax.core.cost")
local weigh = ____cost.weigh
local ____states = require("resty.ax.core.health.states")
local isUsable = ____states.isUsable
local STATES = ____states.STATES
local ____pick = require("resty.ax.dataplane.pick")
local pickNode = ____pick.pickNode
--- Picks a node for a request that has no try in flight and keeps a place there.
-- 
-- @returns false when no node has room
function ____exports.reserve(upstream, record, now_ms, report)
    local trials = upstream.trials
    trials.taken = -1
    local node = pickNode(
        upstream,
        record,
        now_ms,
        report,
        upstream.door.line ~= nil
    )
    if node < 0 then
        return false
    end
    record.upstream = upstream
    record.node = node
    record.start_ms = now_ms
    record.reserved = true
    record.on_trial = upstream.state[node + 1] == "probing"
    record.trial = trials.taken == node and trials.granted[node + 1] or 0
    record.is_long = false
    record.prev = record
    record.next = record
    local ____upstream_pool_in_flight_0, ____temp_1 = upstream.pool.in_flight, node + 1
    ____upstream_pool_in_flight_0[____temp_1] = ____upstream_pool_in_flight_0[____temp_1] + 1
    weigh(upstream.pool, node)
    return true
end
--- Whether the place that a request has may be used: it is in this upstream, and its node has not been taken out
-- since.
function ____exports.hasPlace(upstream, record)
    if not record.reserved or record.upstream ~= upstream or record.node < 0 then
        return false
    end
    local state = upstream.state[record.node + 1]
    if record.on_trial and state == "probing" then
        return true
    end
    if upstream.panic then
        return not STATES[state].by_operator
    end
    return isUsable(state) and upstream.held_until_ms[record.node + 1] == 0
end
return ____exports
