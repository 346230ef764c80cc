local ____exports = {}
--- A request in flight for longer than this many times the node's latency makes the node suspect.
local AGE_LIMIT_LATENCIES = 1.5
--- How much the age of the oldest request can add. Enough to leave a node that hangs; not endless, because where all
-- requests are long (WebSocket) age tells nothing, and every node is at the limit then.
local AGE_FACTOR_MAX = 50
--- Stands in for weight 0: such a node costs more than any other, yet stays comparable.
local MIN_WEIGHT = 1e-9
--- The expected cost of sending the next request to a node: lower is better.
-- 
--     (in_flight + 1) · latency / success³ · clamp(oldest_age / (1.5 · latency), 1, 50) / prior
-- 
-- Least-requests times latency is the "peak EWMA" load of Finagle and tower; here failures enter as
-- the cube of the success share, because a node that fails fast must never look fast, and the age of
-- the oldest request in flight tells of a node that hangs before any of its requests has ended.
-- The prior is base weight × ramp × √score: capacity, ramps, the operator's will, and what the collector has seen over
-- a longer time. The root, because the score is made of the same latencies and errors, up to a minute old: in full it
-- would hold back a recovered node for as long; left out, a slow node gets twice as many requests under pressure.
-- 
-- @param now_ms monotonic ms
function ____exports.cost(pool, node, now_ms)
    local latency_ms = pool.latency_ms[node + 1]
    local success = pool.success[node + 1]
    local weight = pool.prior[node + 1]
    local in_flight = pool.in_flight[node + 1] - pool.long_in_flight[node + 1] + pool.others_in_flight[node + 1] + 1
    local total = in_flight * latency_ms / (success * success * success * (weight > MIN_WEIGHT and weight or MIN_WEIGHT))
    local oldest_start_ms = pool.oldest_start_ms[node + 1]
    if oldest_start_ms > 0 then
        local age = (now_ms - oldest_start_ms) / (AGE_LIMIT_LATENCIES * latency_ms)
        if age > 1 then
            total = total * (age < AGE_FACTOR_MAX and age or AGE_FACTOR_MAX)
        end
    end
    return total
end
--- One node is preferred to another when it costs less than this share of the other. Latencies are means of few samples:
-- without the margin a quiet upstream sends everything to whichever node was luckiest last.
local CLEARLY_CHEAPER = 0.7
--- The candidate of about the least cost. Of two that differ by less than chance explains, the one with fewer requests
-- in flight; else the first from `offset` on, so that callers who move `offset` spread requests evenly.
-- 
-- @param count how many entries of `candidates` are valid, at least 1
-- @param offset 0 .. count-1
function ____exports.cheapest(pool, candidates, count, offset, now_ms)
    local node = candidates[offset + 1]
    local least = ____exports.cost(pool, node, now_ms)
    local least_in_flight = pool.in_flight[node + 1] + pool.others_in_flight[node + 1]
    do
        local k = 1
        while k < count do
            local at = offset + k
            if at >= count then
                at = at - count
            end
            local other = candidates[at + 1]
            local other_cost = ____exports.cost(pool, other, now_ms)
            local in_flight = pool.in_flight[other + 1] + pool.others_in_flight[other + 1]
            if other_cost < least * CLEARLY_CHEAPER or other_cost < least and in_flight < least_in_flight then
                least = other_cost
                least_in_flight = in_flight
                node = other
            end
            k = k + 1
        end
    end
    return node
end
return ____exports
