local ____exports = {}
local isOut, withRoom, isLastRound, pickBeyond
local ____classes = require("resty.ax.core.classes")
local avoids = ____classes.avoids
local ____hash = require("resty.ax.core.hash")
local HASH_RANGE = ____hash.HASH_RANGE
local hashNumber = ____hash.hashNumber
local ____load = require("resty.ax.core.load")
local leastLoaded = ____load.leastLoaded
local ____random = require("resty.ax.core.random")
local draw = ____random.draw
local ____ask = require("resty.ax.dataplane.ask")
local ask = ____ask.ask
local cheapestInTurn = ____ask.cheapestInTurn
local ____requests = require("resty.ax.dataplane.requests")
local wasTried = ____requests.wasTried
local ____slot_marks = require("resty.ax.dataplane.slot_marks")
local isClosed = ____slot_marks.isClosed
local ____trials = require("resty.ax.dataplane.trials")
local takeTrial = ____trials.takeTrial
local ____candidates = require("resty.ax.dataplane.candidates")
local isTaken = ____candidates.isTaken
local isUsable = ____candidates.isUsable
function isOut(upstream, node)
    return upstream.slots ~= nil and isClosed(upstream.slots, node, upstream.request.now_ms)
end
--- Nodes of any tier that the operator did not take down, the request has not tried and are not known to be full, into
-- `scratch`; returns how many.
function ____exports.widen(upstream, record, usable_only)
    local scratch = upstream.scratch
    local count = 0
    do
        local node = 0
        while node < upstream.pool.n do
            local usable = isUsable(upstream, node)
            local allowed = not isTaken(upstream, node) and (usable or not usable_only)
            if allowed and not wasTried(record, upstream, node) and not isOut(upstream, node) then
                scratch[count + 1] = node
                count = count + 1
            end
            node = node + 1
        end
    end
    return count
end
function withRoom(upstream)
    local pool = upstream.pool
    local scratch = upstream.scratch
    local count = 0
    do
        local k = 0
        while k < pool.candidate_count do
            if not isOut(upstream, pool.candidates[k + 1]) then
                scratch[count + 1] = pool.candidates[k + 1]
                count = count + 1
            end
            k = k + 1
        end
    end
    return count
end
function isLastRound(upstream)
    local slots = upstream.slots
    return slots == nil or slots.allow == slots.allow_last
end
function pickBeyond(upstream, record)
    local scratch = upstream.scratch
    local count = ____exports.widen(upstream, record, true)
    if count == 0 and record.tries > record.settled_tries then
        count = ____exports.widen(upstream, record, false)
    end
    if count == 0 and isLastRound(upstream) then
        count = withRoom(upstream)
    end
    return count == 0 and -1 or cheapestInTurn(upstream, scratch, count)
end
--- Whether some candidates must be left out because of their limits.
local function hasClosed(upstream)
    return upstream.slots ~= nil and upstream.slots.closed_count > 0
end
--- A ramping node takes only so many at a time: its caches and pools are as cold as its share is small.
function ____exports.isRampFull(upstream, node)
    local limit = upstream.ramp_limit[node + 1]
    if limit <= 0 then
        return false
    end
    local pool = upstream.pool
    return pool.in_flight[node + 1] - pool.long_in_flight[node + 1] + pool.others_in_flight[node + 1] >= limit
end
--- Takes ramping nodes that are full out of `scratch`, unless nothing would be left; returns how many are left.
local function leaveRamps(upstream, count)
    local scratch = upstream.scratch
    local room = 0
    do
        local k = 0
        while k < count do
            if not ____exports.isRampFull(upstream, scratch[k + 1]) then
                room = room + 1
            end
            k = k + 1
        end
    end
    if room == 0 then
        return count
    end
    local kept = 0
    do
        local k = 0
        while k < count do
            if not ____exports.isRampFull(upstream, scratch[k + 1]) then
                scratch[kept + 1] = scratch[k + 1]
                kept = kept + 1
            end
            k = k + 1
        end
    end
    return kept
end
--- Candidates of a view not yet tried and with room, into `scratch`; returns how many.
local function narrow(upstream, pool, record)
    local scratch = upstream.scratch
    local count = 0
    do
        local k = 0
        while k < pool.candidate_count do
            local node = pool.candidates[k + 1]
            if not wasTried(record, upstream, node) and not isOut(upstream, node) then
                scratch[count + 1] = node
                count = count + 1
            end
            k = k + 1
        end
    end
    return upstream.ramps_limited and leaveRamps(upstream, count) or count
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
    local count = narrow(upstream, pool, record)
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
    count = narrow(upstream, pool, record)
    upstream.turn = upstream.turn + 1
    return leastLoaded(
        pool,
        pool.static_weight,
        scratch,
        count,
        upstream.turn % count
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
    local is_narrowed = upstream.request.tries > 0 or hasClosed(upstream)
    local candidates = is_narrowed and upstream.scratch or pool.candidates
    local count = is_narrowed and narrow(upstream, pool, record) or pool.candidate_count
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
    if not is_narrowed and upstream.ramps_limited and ____exports.isRampFull(upstream, node) then
        candidates = upstream.scratch
        count = narrow(upstream, pool, record)
        node = ask(
            upstream,
            pool,
            state,
            candidates,
            count,
            report
        )
    end
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
    return node < 0 and pickBeyond(upstream, record) or node
end
--- The slow way: some candidates are out for this request.
local function pickNarrowed(upstream, record, report)
    local count = narrow(upstream, upstream.pool, record)
    if count == 0 then
        return pickBeyond(upstream, record)
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
--- One pick, within what the limits are known to allow; -1 when nothing is left.
function ____exports.pickOnce(upstream, record, report)
    local pool = upstream.pool
    local is_first = upstream.request.tries == 0
    if is_first and upstream.trials.open_count > 0 then
        local node = takeTrial(upstream, record, report)
        if node >= 0 then
            return node
        end
    end
    if upstream.placement ~= nil then
        return pickPlaced(upstream, upstream.placement, record, report)
    end
    if not is_first or hasClosed(upstream) then
        return pickNarrowed(upstream, record, report)
    end
    local node = ask(
        upstream,
        pool,
        upstream.strategy_state,
        pool.candidates,
        pool.candidate_count,
        report
    )
    if upstream.ramps_limited and ____exports.isRampFull(upstream, node) then
        return pickNarrowed(upstream, record, report)
    end
    return node
end
return ____exports
