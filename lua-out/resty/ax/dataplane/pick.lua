local ____exports = {}
local ____cost = require("resty.ax.core.cost")
local cheapest = ____cost.cheapest
local ____requests = require("resty.ax.dataplane.requests")
local wasTried = ____requests.wasTried
local function isFull(upstream, node)
    local pool = upstream.pool
    local limit = pool.max_conns[node + 1]
    return limit > 0 and pool.in_flight[node + 1] + pool.others_in_flight[node + 1] >= limit
end
--- Candidates not yet tried and with room, into `scratch`; returns how many.
local function narrow(upstream, record, respect_limits)
    local pool = upstream.pool
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
--- Nodes outside the tier in use that the operator did not take down and the request has not tried.
local function widen(upstream, record, usable_only)
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
local function pickCustom(upstream, candidates, count, report)
    local ok, answer = pcall(
        upstream.strategy.pick,
        upstream.strategy_state,
        upstream.pool,
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
local function ask(upstream, candidates, count, report)
    if upstream.strategy_is_custom then
        return pickCustom(upstream, candidates, count, report)
    end
    return upstream.strategy.pick(
        upstream.strategy_state,
        upstream.pool,
        candidates,
        count,
        upstream.request
    )
end
--- The slow way: some candidates are out for this request.
local function pickNarrowed(upstream, record, report)
    local pool = upstream.pool
    local scratch = upstream.scratch
    local count = narrow(upstream, record, upstream.limited)
    if count > 0 then
        return ask(upstream, scratch, count, report)
    end
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
    if tries > 0 or upstream.limited then
        return pickNarrowed(upstream, record, report)
    end
    return ask(upstream, pool.candidates, count, report)
end
return ____exports
