local ____exports = {}
local markCandidates
local ____cost = require("resty.ax.core.cost")
local noteHighestPrior = ____cost.noteHighestPrior
local weighAll = ____cost.weighAll
local ____classes = require("resty.ax.core.classes")
local measureLoads = ____classes.measureLoads
local ____states = require("resty.ax.core.health.states")
local isUsableState = ____states.isUsable
local STATES = ____states.STATES
local ____placement = require("resty.ax.dataplane.placement")
local splitByZone = ____placement.splitByZone
local updateShare = ____placement.updateShare
function markCandidates(pool)
    local ____pool_2 = pool
    local candidates = ____pool_2.candidates
    local candidate_of = ____pool_2.candidate_of
    local version = ____pool_2.version
    do
        local k = 0
        while k < pool.candidate_count do
            candidate_of[candidates[k + 1] + 1] = version
            k = k + 1
        end
    end
end
--- Brings up to date what zones and classes are decided by. Flush, and when candidates change.
function ____exports.refreshPlacement(upstream)
    local placement = upstream.placement
    if placement == nil then
        return
    end
    updateShare(placement, upstream.pool, upstream.config.nodes)
    if placement.source == nil then
        return
    end
    measureLoads(placement.loads, upstream.pool)
    measureLoads(placement.others_loads, placement.others)
end
--- In the snapshot's rotation, and not held out by this worker.
function ____exports.isUsable(upstream, node)
    return isUsableState(upstream.state[node + 1]) and upstream.held_until_ms[node + 1] == 0
end
--- The operator took it out, in the configuration or at run time: not even panic uses it.
function ____exports.isTaken(upstream, node)
    return STATES[upstream.state[node + 1]].by_operator
end
--- Every node was taken out at run time: those that the configuration does not take out serve on.
local function collectAny(upstream)
    local pool = upstream.pool
    local count = 0
    do
        local node = 0
        while node < pool.n do
            if not upstream.config.nodes[node + 1].down then
                pool.candidates[count + 1] = node
                count = count + 1
            end
            node = node + 1
        end
    end
    return count
end
local function collect(upstream, backup, any_state)
    local pool = upstream.pool
    local count = 0
    do
        local node = 0
        while node < pool.n do
            local given = upstream.config.nodes[node + 1]
            local ____temp_1 = given.backup == backup
            if ____temp_1 then
                local ____any_state_0
                if any_state then
                    ____any_state_0 = not ____exports.isTaken(upstream, node)
                else
                    ____any_state_0 = ____exports.isUsable(upstream, node)
                end
                ____temp_1 = ____any_state_0
            end
            if ____temp_1 then
                pool.candidates[count + 1] = node
                count = count + 1
            end
            node = node + 1
        end
    end
    return count
end
--- Decides the tier in use: usable primaries, else usable backups, else every node that the operator did not take out,
-- since a try at a bad node beats an error. The latter also in panic, when the collector finds too few nodes good.
function ____exports.rebuildCandidates(upstream)
    local pool = upstream.pool
    local spreads = upstream.ruled_panic and upstream.config.panic ~= "fail"
    local count = spreads and 0 or collect(upstream, false, false)
    if count == 0 and not spreads then
        count = collect(upstream, true, false)
    end
    upstream.panic = count == 0
    if count == 0 then
        count = collect(upstream, false, true)
    end
    if count == 0 then
        count = collect(upstream, true, true)
    end
    if count == 0 then
        count = collectAny(upstream)
    end
    pool.candidate_count = count
    pool.version = pool.version + 1
    noteHighestPrior(pool)
    weighAll(pool)
    local placement = upstream.placement
    if placement ~= nil then
        splitByZone(placement, pool)
        markCandidates(placement.others)
    end
    markCandidates(pool)
    ____exports.refreshPlacement(upstream)
end
--- Whether requests are to be refused: too few nodes are good, and the configuration says so. Access phase.
function ____exports.failsClosed(upstream)
    return upstream.ruled_panic and upstream.config.panic == "fail"
end
return ____exports
