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
-- @param now_ms monotonic ms
function ____exports.cost(pool, node, now_ms)
    local latency_ms = pool.latency_ms[node + 1]
    local success = pool.success[node + 1]
    local weight = pool.prior[node + 1]
    local others = pool.others_in_flight[node + 1] * latency_ms / (latency_ms + OTHERS_AGE_MS)
    local in_flight = pool.in_flight[node + 1] - pool.long_in_flight[node + 1] + others + 1
    local share = success * success * success * (weight > MIN_WEIGHT and weight or MIN_WEIGHT)
    local total = in_flight * latency_ms * math.sqrt(latency_ms) / share
    local oldest_start_ms = pool.oldest_start_ms[node + 1]
    if oldest_start_ms <= 0 then
        return total
    end
    local silent_ms = now_ms - math.max(oldest_start_ms, pool.last_sample_ms[node + 1])
    local waiting = pool.in_flight[node + 1] - pool.long_in_flight[node + 1]
    local silence = silent_ms * waiting / (SILENCE_LIMIT * latency_ms)
    if silence <= 1 then
        return total
    end
    return total * math.min(silence, SILENCE_FACTOR_MAX)
end
--- One node is preferred to another when it costs less than this share of the other. Latencies are means of few samples:
-- without the margin a quiet upstream sends everything to whichever node was luckiest last.
local CLEARLY_CHEAPER = 0.7
--- The candidate of about the least cost. Of two that differ by less than chance explains, the one with fewer requests
-- of this worker in flight; else the first from `offset` on, so that callers who move `offset` spread requests evenly.
-- 
-- @param count how many entries of `candidates` are valid, at least 1
-- @param offset 0 .. count-1
function ____exports.cheapest(pool, candidates, count, offset, now_ms)
    local node = candidates[offset + 1]
    local least = ____exports.cost(pool, node, now_ms)
    local least_in_flight = pool.in_flight[node + 1]
    do
        local k = 1
        while k < count do
            local at = offset + k
            if at >= count then
                at = at - count
            end
            local other = candidates[at + 1]
            local other_cost = ____exports.cost(pool, other, now_ms)
            local in_flight = pool.in_flight[other + 1]
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
