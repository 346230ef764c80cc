local ____exports = {}
local isFull, widen, pickBeyond
local ____cost = require("resty.ax.core.cost")
local cheapest = ____cost.cheapest
local ____classes = require("resty.ax.core.classes")
local avoids = ____classes.avoids
local ____hash = require("resty.ax.core.hash")
local HASH_RANGE = ____hash.HASH_RANGE
local hashNumber = ____hash.hashNumber
local ____load = require("resty.ax.core.load")
local leastLoaded = ____load.leastLoaded
local ____random = require("resty.ax.core.random")
local draw = ____random.draw
local ____request_key = require("resty.ax.dataplane.request_key")
local requestHash = ____request_key.requestHash
local ____requests = require("resty.ax.dataplane.requests")
local wasTried = ____requests.wasTried
function isFull(upstream, node)
    local pool = upstream.pool
    local limit = pool.max_conns[node + 1]
    return limit > 0 and pool.in_flight[node + 1] + pool.others_in_flight[node + 1] >= limit
end
function widen(upstream, record, usable_only)
    local scratch = upstream.scratch
    local count = 0
    do
        local node = 0
        while node < upstream.pool.n do
            local usable = upstream.state[node + 1] ~= "ejected" and upstream.held_until_ms[node + 1] == 0
            if not upstream.config.nodes[node + 1].down and (usable or not usable_only) and not wasTried(record, upstream, node) then
                scratch[count + 1] = node
                count = count + 1
            end
            node = node + 1
        end
    end
    return count
end
function pickBeyond(upstream, record, report)
    local pool = upstream.pool
    local scratch = upstream.scratch
    local count = 0
    if record.tries > record.settled_tries then
        count = widen(upstream, record, true)
        if count == 0 then
            count = widen(upstream, record, false)
        end
        if count > 0 then
            return cheapest(
                pool,
                scratch,
                count,
                0,
                upstream.request.now_ms
            )
        end
    elseif upstream.limited then
        count = widen(upstream, record, true)
        local room = 0
        do
            local k = 0
            while k < count do
                if not isFull(upstream, scratch[k + 1]) then
                    scratch[room + 1] = scratch[k + 1]
                    room = room + 1
                end
                k = k + 1
            end
        end
        if room > 0 then
            return cheapest(
                pool,
                scratch,
                room,
                0,
                upstream.request.now_ms
            )
        end
        report("overflow", ("every node of upstream \"" .. upstream.config.name) .. "\" is at its max_conns")
    end
    return cheapest(
        pool,
        pool.candidates,
        pool.candidate_count,
        0,
        upstream.request.now_ms
    )
end
--- Candidates of a view not yet tried and with room, into `scratch`; returns how many.
local function narrow(upstream, pool, record, respect_limits)
    local scratch = upstream.scratch
    local count = 0
    do
        local k = 0
        while k < pool.candidate_count do
            local node = pool.candidates[k + 1]
            if not wasTried(record, upstream, node) and not (respect_limits and isFull(upstream, node)) then
                scratch[count + 1] = node
                count = count + 1
            end
            k = k + 1
        end
    end
    return count
end
local function isOneOf(candidates, count, node)
    do
        local k = 0
        while k < count do
            if candidates[k + 1] == node then
                return true
            end
            k = k + 1
        end
    end
    return false
end
local function pickCustom(upstream, pool, state, candidates, count, report)
    local ok, answer = pcall(
        upstream.strategy.pick,
        state,
        pool,
        candidates,
        count,
        upstream.request
    )
    if ok and isOneOf(candidates, count, answer) then
        return answer
    end
    report(
        "strategy",
        ok and (((("strategy_module \"" .. tostring(upstream.config.strategy_module)) .. "\" of upstream \"") .. upstream.config.name) .. "\" returned ") .. ((tostring(answer) .. ", which is not one of the ") .. tostring(count)) .. " candidates" or (((("strategy_module \"" .. tostring(upstream.config.strategy_module)) .. "\" of upstream \"") .. upstream.config.name) .. "\": ") .. tostring(answer)
    )
    return cheapest(
        upstream.pool,
        candidates,
        count,
        0,
        upstream.request.now_ms
    )
end
local function ask(upstream, pool, state, candidates, count, report)
    if upstream.strategy_is_custom then
        return pickCustom(
            upstream,
            pool,
            state,
            candidates,
            count,
            report
        )
    end
    return upstream.strategy.pick(
        state,
        pool,
        candidates,
        count,
        upstream.request
    )
end
--- Takes the nodes that the request's role keeps away from out of `scratch`; returns how many are left.
local function keepForRole(upstream, pool, loads, role, count)
    local scratch = upstream.scratch
    local kept = 0
    do
        local k = 0
        while k < count do
            local node = scratch[k + 1]
            if not avoids(role, loads, pool, node) then
                scratch[kept + 1] = node
                kept = kept + 1
            end
            k = k + 1
        end
    end
    return kept
end
--- The strategy's pick is not for this request's class: it picks again among those that are.
local function pickForRole(upstream, pool, state, loads, record, report)
    local scratch = upstream.scratch
    local count = narrow(upstream, pool, record, upstream.limited)
    local all = count
    count = keepForRole(
        upstream,
        pool,
        loads,
        record.role,
        all
    )
    if count > 0 then
        return ask(
            upstream,
            pool,
            state,
            scratch,
            count,
            report
        )
    end
    count = narrow(upstream, pool, record, upstream.limited)
    return leastLoaded(
        pool,
        pool.static_weight,
        scratch,
        count,
        upstream.picks_total % count
    )
end
--- One view of the upstream, with regard to the request's class; -1 when nothing in it is left for the request.
local function pickInView(upstream, placement, is_other, record, report)
    local pool = is_other and placement.others or upstream.pool
    local ____is_other_0
    if is_other then
        ____is_other_0 = placement.others_state
    else
        ____is_other_0 = upstream.strategy_state
    end
    local state = ____is_other_0
    local candidates = pool.candidates
    local count = pool.candidate_count
    if upstream.request.tries > 0 or upstream.limited then
        candidates = upstream.scratch
        count = narrow(upstream, pool, record, upstream.limited)
    end
    if count == 0 then
        return -1
    end
    local node = ask(
        upstream,
        pool,
        state,
        candidates,
        count,
        report
    )
    if placement.source == nil then
        return node
    end
    local loads = is_other and placement.others_loads or placement.loads
    if not avoids(record.role, loads, pool, node) then
        return node
    end
    return pickForRole(
        upstream,
        pool,
        state,
        loads,
        record,
        report
    )
end
--- Seed of the draw that sends keys to other zones: another than the rings', or one arc of the ring would go.
local ZONE_SEED = 1
--- 0..1. Where a key decides it decides here too: the same keys overflow, and the others stay.
local function drawZone(upstream, placement)
    if upstream.strategy.uses_key == true then
        return hashNumber(upstream.request.key, ZONE_SEED) / HASH_RANGE
    end
    return draw(placement.random)
end
--- With zones or classes: a view by the zones' shares, the other one when it has nothing left.
local function pickPlaced(upstream, placement, record, report)
    local others_count = placement.others.candidate_count
    local is_other = others_count > 0 and drawZone(upstream, placement) >= placement.local_share
    local node = pickInView(
        upstream,
        placement,
        is_other,
        record,
        report
    )
    if node < 0 and others_count > 0 then
        node = pickInView(
            upstream,
            placement,
            not is_other,
            record,
            report
        )
    end
    return node < 0 and pickBeyond(upstream, record, report) or node
end
--- The slow way: some candidates are out for this request.
local function pickNarrowed(upstream, record, report)
    local count = narrow(upstream, upstream.pool, record, upstream.limited)
    if count == 0 then
        return pickBeyond(upstream, record, report)
    end
    return ask(
        upstream,
        upstream.pool,
        upstream.strategy_state,
        upstream.scratch,
        count,
        report
    )
end
--- Picks the node for the next try of a request. Balancer phase.
-- 
-- @returns a node number, or -1 when the upstream has no node at all that may be used
function ____exports.pickNode(upstream, record, now_ms, report)
    local pool = upstream.pool
    local count = pool.candidate_count
    if count == 0 then
        return -1
    end
    upstream.request.now_ms = now_ms
    local tries = record.tries - record.settled_tries
    upstream.request.tries = tries
    if upstream.strategy.uses_key == true then
        upstream.request.key = requestHash(upstream, record)
    end
    if upstream.placement ~= nil then
        return pickPlaced(upstream, upstream.placement, record, report)
    end
    if tries > 0 or upstream.limited then
        return pickNarrowed(upstream, record, report)
    end
    return ask(
        upstream,
        pool,
        upstream.strategy_state,
        pool.candidates,
        count,
        report
    )
end
return ____exports
