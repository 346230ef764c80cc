local ____exports = {}
--- A node that has not answered for this many times its usual time between two answers is suspect. Chance makes it so
-- in 22 % of all cases (exponential times), which costs little: the next best node is nearly as good. With 2.5 pauses of
-- 250 ms were found too late (docs/tuning.md).
local SILENCE_LIMIT = 1.5
--- How much silence can add. Enough to leave a node that hangs; not endless, because where all requests are long
-- (WebSocket) silence tells nothing, and every node is at the limit then.
local SILENCE_FACTOR_MAX = 50
--- The other workers' requests in flight are up to 100 ms old. Where requests take longer, most of them are still there;
-- where they are shorter, the count is of other requests, all workers have the same wrong one, and herd: they count less
-- then. Ignoring them altogether is as good with short requests, and blind with long ones (docs/tuning.md).
local OTHERS_AGE_MS = 100
--- More requests in flight than a node ever has.
local IN_FLIGHT_MAX = 1000000000
--- Stands in for weight 0: such a node costs more than any other, yet stays comparable.
local MIN_WEIGHT = 1e-9
--- The expected cost of sending the next request to a node: lower is better.
-- 
--     (in_flight + 1) · latency^1.5 / success³ · clamp(silence / 1.5, 1, 50) / prior
-- 
-- Least-requests times latency is the "peak EWMA" load of Finagle and tower: the expected wait, which is what counts
-- for the mean. The tail is made by the slow nodes, so for the sake of the P99 they get less: hence the exponent
-- (docs/tuning.md). Failures enter as the cube of the success share, because a node that fails fast must never look
-- fast.
-- 
-- In flight are this worker's requests, and the other workers' as far as their count is still true.
-- 
-- Silence tells of a node that hangs or pauses before any of its requests has ended: the time since its last answer
-- (or since the oldest request it owes one), in times that usually pass between two answers. That is latency ÷ requests
-- in flight (Little's law), so the more requests wait for a node, the sooner its silence is heard. Each worker listens
-- for its own requests.
-- 
-- The prior is base weight × ramp × √score: capacity, ramps, the operator's will, and what the collector has seen over
-- a longer time. The root, because the score is made of the same latencies and errors, up to a minute old: in full it
-- would hold back a recovered node for as long; left out, a slow node gets twice as many requests under pressure.
-- 
-- Written without a branch, for the loop of `cheapest`: LuaJIT compiles each way through a branch to a trace of its own,
-- and going from one to another costs more than all of the arithmetic. One division and one root: with the terms above
-- it would be four divisions (latency · √latency · silence is √latency · clamp(…) after cancelling).
-- 
-- @param now_ms monotonic ms
function ____exports.cost(pool, node, now_ms)
    local latency_ms = pool.latency_ms[node + 1]
    local success = pool.success[node + 1]
    local oldest_start_ms = pool.oldest_start_ms[node + 1]
    local own = pool.in_flight[node + 1] - pool.long_in_flight[node + 1]
    local aged_ms = latency_ms + OTHERS_AGE_MS
    local in_flight = (own + 1) * aged_ms + pool.others_in_flight[node + 1] * latency_ms
    local silent_ms = now_ms - math.max(oldest_start_ms, pool.last_sample_ms[node + 1])
    local waiting = math.min(own, oldest_start_ms * IN_FLIGHT_MAX)
    local expected_ms = math.max(
        latency_ms,
        math.min(silent_ms * waiting / SILENCE_LIMIT, latency_ms * SILENCE_FACTOR_MAX)
    )
    local share = success * success * success * math.max(pool.prior[node + 1], MIN_WEIGHT)
    return in_flight * math.sqrt(latency_ms) * expected_ms / (aged_ms * share)
end
--- One node is preferred to another when it costs less than this share of the other. Latencies are means of few samples:
-- without the margin a quiet upstream sends everything to whichever node was luckiest last.
local CLEARLY_CHEAPER = 0.7
--- Costs by position among the candidates, and the best so far: valid within one call of `cheapest` only.
local costs = {}
local best = {node = 0, cost = 0, in_flight = 0}
local room = 0
--- No branch in this loop; see `cost`.
local function costAll(pool, candidates, count, now_ms)
    do
        while room < count do
            costs[room + 1] = 0
            room = room + 1
        end
    end
    do
        local k = 0
        while k < count do
            costs[k + 1] = ____exports.cost(pool, candidates[k + 1], now_ms)
            k = k + 1
        end
    end
end
--- Goes on comparing with the candidates from one position to before another.
local function compare(in_flights, candidates, from, to)
    local node = best.node
    local least = best.cost
    local least_in_flight = best.in_flight
    do
        local k = from
        while k < to do
            local other_cost = costs[k + 1]
            if other_cost < least then
                local in_flight = in_flights[candidates[k + 1] + 1]
                if other_cost < least * CLEARLY_CHEAPER or in_flight < least_in_flight then
                    least = other_cost
                    least_in_flight = in_flight
                    node = candidates[k + 1]
                end
            end
            k = k + 1
        end
    end
    best.node = node
    best.cost = least
    best.in_flight = least_in_flight
end
--- The candidate of about the least cost. Of two that differ by less than chance explains, the one with fewer requests
-- of this worker in flight; else the first from `offset` on, so that callers who move `offset` spread requests evenly.
-- 
-- @param count how many entries of `candidates` are valid, at least 1
-- @param offset 0 .. count-1
function ____exports.cheapest(pool, candidates, count, offset, now_ms)
    costAll(pool, candidates, count, now_ms)
    best.node = candidates[offset + 1]
    best.cost = costs[offset + 1]
    best.in_flight = pool.in_flight[candidates[offset + 1] + 1]
    compare(pool.in_flight, candidates, offset + 1, count)
    compare(pool.in_flight, candidates, 0, offset)
    return best.node
end
return ____exports
