local math_floor = math.floor
local math_huge = math.huge
local math_max = math.max
local math_min = math.min
local math_sqrt = math.sqrt
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
    return 1 / math_max(prior, MIN_PRIOR)
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
-- All but the silence is in `resting_cost` already (`weigh`). Without a branch, for the loop of `leastOfMany`: LuaJIT
-- compiles each way through a branch to a trace of its own, and going from one to another costs more than all of the
-- arithmetic.
-- 
-- @param now_ms monotonic ms
function ____exports.cost(pool, node, now_ms)
    local silence = (now_ms - pool.silent_since_ms[node + 1]) * pool.silence_per_ms[node + 1]
    return pool.resting_cost[node + 1] * math_max(
        1,
        math_min(silence, SILENCE_FACTOR_MAX)
    )
end
--- Brings up to date what picks read of a node: the parts of its cost, and its rank by load. To be called after any
-- change of what it is made of. A pick looks at every node and a request changes one: it is cheaper here.
function ____exports.weigh(pool, node)
    local latency_ms = pool.latency_ms[node + 1]
    local success = pool.success[node + 1]
    local inverse_prior = pool.inverse_prior[node + 1]
    local oldest_start_ms = pool.oldest_start_ms[node + 1]
    local own = pool.in_flight[node + 1] - pool.long_in_flight[node + 1]
    local aged_ms = latency_ms + OTHERS_AGE_MS
    local in_flight = (own + 1) * aged_ms + pool.others_in_flight[node + 1] * latency_ms
    local dearness = in_flight * latency_ms * math_sqrt(latency_ms) * inverse_prior
    local waiting = math_min(own, oldest_start_ms * IN_FLIGHT_MAX)
    pool.resting_cost[node + 1] = dearness / (aged_ms * success * success * success)
    pool.silent_since_ms[node + 1] = math_max(oldest_start_ms, pool.last_sample_ms[node + 1])
    pool.silence_per_ms[node + 1] = waiting / (SILENCE_LIMIT * latency_ms)
    pool.load_rank[node + 1] = math_floor((own + 1) * inverse_prior * pool.highest_prior + 0.5)
end
--- The same for all nodes: flushes, and when candidates change.
function ____exports.weighAll(pool)
    do
        local node = 0
        while node < pool.n do
            ____exports.weigh(pool, node)
            node = node + 1
        end
    end
end
--- Notes the highest prior of the candidates, which loads are rounded by. Followed by `weighAll`.
function ____exports.noteHighestPrior(pool)
    local least_inverse = math_huge
    do
        local k = 0
        while k < pool.candidate_count do
            least_inverse = math_min(least_inverse, pool.inverse_prior[pool.candidates[k + 1] + 1])
            k = k + 1
        end
    end
    pool.highest_prior = 1 / least_inverse
end
--- One node is preferred to another when it costs less than this share of the other. Latencies are means of few samples:
-- without the margin a quiet upstream sends everything to whichever node was luckiest last.
local CLEARLY_CHEAPER = 0.7
--- Times by how much a candidate is dearer than the margin allows: more than any rank, however little that is.
local DEARER = 1e+300
--- More than any number of candidates.
local POSITIONS_MAX = 1000000000
--- What decides between candidates: whether the cost is over the limit; then requests in flight for its prior, relative
-- to the highest prior and rounded (`load_rank`), so that idle nodes of about the same prior are equal, whatever the
-- noise of their scores; then the position, counted from the offset on. Of the least one, the position can be read.
-- 
-- No function here returns what `Math.min` or `Math.max` returns: LuaJIT takes tail calls of these for loops, and gives
-- up ("leaving loop in root trace"). Nor what a function of ours returns, where it is one of many: more than fifteen tail
-- calls in a trace count as a loop, too.
-- 
-- @param ahead position − offset: where it is negative, the turn comes after the last position
local function rank(pool, node, node_cost, ahead, count, limit)
    local turn = math_max(
        ahead,
        math_min(ahead + count, ahead * -POSITIONS_MAX)
    )
    return pool.load_rank[node + 1] * count + turn + math_max(0, node_cost - limit) * DEARER
end
--- Candidates compared without a loop.
local FEW = 12
--- The least rank among up to twelve. A trace of the balancer phase cannot contain a loop (phases/balancer.ts), and around
-- one it goes on in the interpreter: without, a pick is one piece of machine code. Costs are in variables, not in a
-- table: after a store into one, LuaJIT reads all others anew.
local function leastOfFew(pool, candidates, count, offset, now_ms)
    local cost_0 = ____exports.cost(pool, candidates[1], now_ms)
    local cost_1 = count > 1 and ____exports.cost(pool, candidates[2], now_ms) or math_huge
    local cost_2 = count > 2 and ____exports.cost(pool, candidates[3], now_ms) or math_huge
    local cost_3 = count > 3 and ____exports.cost(pool, candidates[4], now_ms) or math_huge
    local cost_4 = count > 4 and ____exports.cost(pool, candidates[5], now_ms) or math_huge
    local cost_5 = count > 5 and ____exports.cost(pool, candidates[6], now_ms) or math_huge
    local cost_6 = count > 6 and ____exports.cost(pool, candidates[7], now_ms) or math_huge
    local cost_7 = count > 7 and ____exports.cost(pool, candidates[8], now_ms) or math_huge
    local cost_8 = count > 8 and ____exports.cost(pool, candidates[9], now_ms) or math_huge
    local cost_9 = count > 9 and ____exports.cost(pool, candidates[10], now_ms) or math_huge
    local cost_10 = count > 10 and ____exports.cost(pool, candidates[11], now_ms) or math_huge
    local cost_11 = count > 11 and ____exports.cost(pool, candidates[12], now_ms) or math_huge
    local least_of_six = math_min(
        cost_0,
        cost_1,
        cost_2,
        cost_3,
        cost_4,
        cost_5
    )
    local least = count > 6 and math_min(
        least_of_six,
        cost_6,
        cost_7,
        cost_8,
        cost_9,
        cost_10,
        cost_11
    ) or least_of_six
    local limit = least / CLEARLY_CHEAPER
    local first = rank(
        pool,
        candidates[1],
        cost_0,
        -offset,
        count,
        limit
    )
    if count > 1 then
        first = math_min(
            first,
            rank(
                pool,
                candidates[2],
                cost_1,
                1 - offset,
                count,
                limit
            )
        )
    end
    if count > 2 then
        first = math_min(
            first,
            rank(
                pool,
                candidates[3],
                cost_2,
                2 - offset,
                count,
                limit
            )
        )
    end
    if count > 3 then
        first = math_min(
            first,
            rank(
                pool,
                candidates[4],
                cost_3,
                3 - offset,
                count,
                limit
            )
        )
    end
    if count > 4 then
        first = math_min(
            first,
            rank(
                pool,
                candidates[5],
                cost_4,
                4 - offset,
                count,
                limit
            )
        )
    end
    if count > 5 then
        first = math_min(
            first,
            rank(
                pool,
                candidates[6],
                cost_5,
                5 - offset,
                count,
                limit
            )
        )
    end
    if count > 6 then
        first = math_min(
            first,
            rank(
                pool,
                candidates[7],
                cost_6,
                6 - offset,
                count,
                limit
            )
        )
    end
    if count > 7 then
        first = math_min(
            first,
            rank(
                pool,
                candidates[8],
                cost_7,
                7 - offset,
                count,
                limit
            )
        )
    end
    if count > 8 then
        first = math_min(
            first,
            rank(
                pool,
                candidates[9],
                cost_8,
                8 - offset,
                count,
                limit
            )
        )
    end
    if count > 9 then
        first = math_min(
            first,
            rank(
                pool,
                candidates[10],
                cost_9,
                9 - offset,
                count,
                limit
            )
        )
    end
    if count > 10 then
        first = math_min(
            first,
            rank(
                pool,
                candidates[11],
                cost_10,
                10 - offset,
                count,
                limit
            )
        )
    end
    if count > 11 then
        first = math_min(
            first,
            rank(
                pool,
                candidates[12],
                cost_11,
                11 - offset,
                count,
                limit
            )
        )
    end
    return first
end
--- Costs by position among the candidates: valid within one call of `leastOfMany` only.
local costs = {}
--- No branch in the loops; see `cost`.
local function leastOfMany(pool, candidates, count, offset, now_ms)
    do
        local k = #costs
        while k < count do
            costs[k + 1] = 0
            k = k + 1
        end
    end
    local least = math_huge
    do
        local k = 0
        while k < count do
            local node_cost = ____exports.cost(pool, candidates[k + 1], now_ms)
            costs[k + 1] = node_cost
            least = math_min(least, node_cost)
            k = k + 1
        end
    end
    local limit = least / CLEARLY_CHEAPER
    local least_rank = math_huge
    do
        local k = 0
        while k < count do
            least_rank = math_min(
                least_rank,
                rank(
                    pool,
                    candidates[k + 1],
                    costs[k + 1],
                    k - offset,
                    count,
                    limit
                )
            )
            k = k + 1
        end
    end
    return least_rank
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
    local position = (least % count + offset) % count
    return position >= 0 and position < count and position % 1 == 0 and position or offset
end
return ____exports
