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
local MIN_PRIOR = 1e-9
--- What `Pool.inverse_prior` holds of a node: divided once when the weights change, not for every node of every pick.
-- 
-- @param prior at least 0
function ____exports.inverseOf(prior)
    return 1 / math.max(prior, MIN_PRIOR)
end
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
    local dearness = in_flight * math.sqrt(latency_ms) * expected_ms * pool.inverse_prior[node + 1]
    return dearness / (aged_ms * success * success * success)
end
--- One node is preferred to another when it costs less than this share of the other. Latencies are means of few samples:
-- without the margin a quiet upstream sends everything to whichever node was luckiest last.
local CLEARLY_CHEAPER = 0.7
--- Times by how much a candidate is dearer than the margin allows: more than any rank, however little that is.
local DEARER = 1e+300
--- Candidates compared without a loop. With 16, LuaJIT gives the trace up in some places: "too many spill slots".
local FEW = 12
--- Costs by position among the candidates: valid within one call of `cheapest` only, like the loads.
local costs = {}
--- Requests in flight for the prior, by position.
local loads = {}
do
    local k = 0
    while k < FEW do
        costs[k + 1] = 0
        loads[k + 1] = 0
        k = k + 1
    end
end
--- Writes down cost and load of the candidate at a position; returns the cost.
local function weigh(pool, node, at, now_ms)
    local node_cost = ____exports.cost(pool, node, now_ms)
    costs[at + 1] = node_cost
    loads[at + 1] = (pool.in_flight[node + 1] - pool.long_in_flight[node + 1] + 1) * pool.inverse_prior[node + 1]
    return node_cost
end
--- What decides between candidates: whether the cost is over the limit; then requests in flight for its prior, relative
-- to the highest prior and rounded, so that idle nodes of about the same prior are equal, whatever the noise of their
-- scores; then the position, counted from the offset on. Of the least one, the position can be read.
-- 
-- @param turn position, counted from the offset on, below `count`
-- @param most the highest prior of all candidates
local function rank(at, turn, count, limit, most)
    return math.floor(loads[at + 1] * most + 0.5) * count + turn + math.max(0, costs[at + 1] - limit) * DEARER
end
--- 1 when `a` is at least `b`, else 0: whole numbers, and no branch.
-- 
-- No function here returns what `Math.min` or `Math.max` returns: LuaJIT takes tail calls of these for loops, and gives
-- up ("leaving loop in root trace"). Nor what a function of ours returns, where it is one of many: more than fifteen tail
-- calls in a trace count as a loop, too.
local function isAtLeast(a, b)
    local clamped = math.max(
        0,
        math.min(1, a - b + 1)
    )
    return clamped
end
--- Weighs four candidates from a position on, the last candidate standing in past the end; returns the least cost.
local function weighFour(pool, candidates, from, last, now_ms)
    local second = math.min(from + 1, last)
    local third = math.min(from + 2, last)
    local fourth = math.min(from + 3, last)
    local least = math.min(
        weigh(pool, candidates[from + 1], from, now_ms),
        weigh(pool, candidates[second + 1], second, now_ms),
        weigh(pool, candidates[third + 1], third, now_ms),
        weigh(pool, candidates[fourth + 1], fourth, now_ms)
    )
    return least
end
--- The least inverse of a prior among the same four.
local function leastInverse(pool, candidates, from, last)
    local inverse_prior = pool.inverse_prior
    local least = math.min(
        inverse_prior[candidates[from + 1] + 1],
        inverse_prior[candidates[math.min(from + 1, last) + 1] + 1],
        inverse_prior[candidates[math.min(from + 2, last) + 1] + 1],
        inverse_prior[candidates[math.min(from + 3, last) + 1] + 1]
    )
    return least
end
local function rankAt(at, count, offset, limit, most)
    local turn = at - offset + count * (1 - isAtLeast(at, offset))
    local own = rank(
        at,
        turn,
        count,
        limit,
        most
    )
    return own
end
--- The least rank of the same four.
local function rankFour(from, count, offset, limit, most)
    local last = count - 1
    local least = math.min(
        rankAt(
            from,
            count,
            offset,
            limit,
            most
        ),
        rankAt(
            math.min(from + 1, last),
            count,
            offset,
            limit,
            most
        ),
        rankAt(
            math.min(from + 2, last),
            count,
            offset,
            limit,
            most
        ),
        rankAt(
            math.min(from + 3, last),
            count,
            offset,
            limit,
            most
        )
    )
    return least
end
--- The least rank among up to twelve. A trace of the balancer phase cannot contain a loop (phases/balancer.ts), and around
-- one it goes on in the interpreter: without, a pick is one piece of machine code.
local function leastOfFew(pool, candidates, count, offset, now_ms)
    local last = count - 1
    local least = weighFour(
        pool,
        candidates,
        0,
        last,
        now_ms
    )
    if count > 4 then
        least = math.min(
            least,
            weighFour(
                pool,
                candidates,
                4,
                last,
                now_ms
            )
        )
    end
    if count > 8 then
        least = math.min(
            least,
            weighFour(
                pool,
                candidates,
                8,
                last,
                now_ms
            )
        )
    end
    local limit = least / CLEARLY_CHEAPER
    local inverse = leastInverse(pool, candidates, 0, last)
    if count > 4 then
        inverse = math.min(
            inverse,
            leastInverse(pool, candidates, 4, last)
        )
    end
    if count > 8 then
        inverse = math.min(
            inverse,
            leastInverse(pool, candidates, 8, last)
        )
    end
    local most = 1 / inverse
    local least_rank = rankFour(
        0,
        count,
        offset,
        limit,
        most
    )
    if count > 4 then
        least_rank = math.min(
            least_rank,
            rankFour(
                4,
                count,
                offset,
                limit,
                most
            )
        )
    end
    if count > 8 then
        least_rank = math.min(
            least_rank,
            rankFour(
                8,
                count,
                offset,
                limit,
                most
            )
        )
    end
    return least_rank
end
--- The least rank of the candidates from one position to before another.
local function rankAll(from, to, turn, count, limit, most)
    local least = math.huge
    do
        local k = from
        while k < to do
            least = math.min(
                least,
                rank(
                    k,
                    k + turn,
                    count,
                    limit,
                    most
                )
            )
            k = k + 1
        end
    end
    return least
end
--- No branch in the loops; see `cost`.
local function leastOfMany(pool, candidates, count, offset, now_ms)
    do
        local k = #costs
        while k < count do
            costs[k + 1] = 0
            loads[k + 1] = 0
            k = k + 1
        end
    end
    local least_cost = math.huge
    local inverse = math.huge
    do
        local k = 0
        while k < count do
            local node = candidates[k + 1]
            least_cost = math.min(
                least_cost,
                weigh(pool, node, k, now_ms)
            )
            inverse = math.min(inverse, pool.inverse_prior[node + 1])
            k = k + 1
        end
    end
    local limit = least_cost / CLEARLY_CHEAPER
    local most = 1 / inverse
    local wrapped = rankAll(
        0,
        offset,
        count - offset,
        count,
        limit,
        most
    )
    local unwrapped = rankAll(
        offset,
        count,
        -offset,
        count,
        limit,
        most
    )
    local least = math.min(wrapped, unwrapped)
    return least
end
--- The candidate of about the least cost: of those that differ from the cheapest by less than chance explains, the one
-- with the fewest requests of this worker in flight for its prior; else the first from `offset` on. Callers pass the
-- position after the last choice, so that equal ones take turns.
-- 
-- @param count how many entries of `candidates` are valid, at least 1
-- @param offset 0 .. count-1
-- @returns its position among the candidates
function ____exports.cheapest(pool, candidates, count, offset, now_ms)
    local least = count <= FEW and leastOfFew(
        pool,
        candidates,
        count,
        offset,
        now_ms
    ) or leastOfMany(
        pool,
        candidates,
        count,
        offset,
        now_ms
    )
    local at = least % count + offset
    local position = at - count * isAtLeast(at, count)
    return position >= 0 and position < count and position % 1 == 0 and position or offset
end
return ____exports
