local ____exports = {}
local ____wire = require("resty.ax.core.wire")
local trialKey = ____wire.trialKey
--- Picks that may pass a trial on because their request must not be sent twice; then any takes it.
local PATIENCE = 100
--- A request that waited is picked for while another one runs: its method cannot be read, so it counts as not repeatable.
local function mayRepeat(upstream, record)
    return upstream.mayRepeat == nil or record.waiter == nil and upstream.mayRepeat()
end
---
-- @returns the half-open node that this request is to try; -1 = none. Asks for each trial once. Access and balancer
-- phases; for a request that waited, any phase of another one.
function ____exports.takeTrial(upstream, record)
    local store = upstream.store
    if store == nil then
        return -1
    end
    if not mayRepeat(upstream, record) and upstream.trials_passed < PATIENCE then
        upstream.trials_passed = upstream.trials_passed + 1
        return -1
    end
    do
        local node = 0
        while node < upstream.pool.n do
            if upstream.trial_open[node + 1] then
                upstream.trial_open[node + 1] = false
                upstream.trials_open = upstream.trials_open - 1
                upstream.trials_passed = 0
                if store.add(
                    trialKey(upstream.pool.name, upstream.pool.ids[node + 1], upstream.trial[node + 1]),
                    1
                ) then
                    return node
                end
            end
            node = node + 1
        end
    end
    return -1
end
return ____exports
