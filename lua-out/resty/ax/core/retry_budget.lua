local math_floor = math.floor
local math_max = math.max
local math_min = math.min
local ____exports = {}
--- Seconds that requests count for: Finagle's and linkerd's time to live.
____exports.WINDOW_S = 10
--- The ratio where nobody chose one: Finagle's, linkerd's and Envoy's.
local UNCHOSEN_RATIO = 0.2
--- More failed tries than this for each one that is answered: retries are of no use. Of the requests that six nodes fail
-- like that, all tries of all six would save one in seventeen.
local FAILED_PER_ANSWER = 100
---
-- @param ratio retries for each request, 0 or more; undefined = nobody chose one
-- @param min_per_s retries a second that this worker may make in any case, 0 or more
function ____exports.newRetryBudget(ratio, min_per_s)
    local budget = {
        ratio = ratio or UNCHOSEN_RATIO,
        reserve = min_per_s * ____exports.WINDOW_S,
        requests = {},
        retries = {},
        request_count = 0,
        retry_count = 0,
        second = 0,
        is_chosen = ratio ~= nil,
        binds = ratio ~= nil,
        answered = 0,
        failed = 0,
        answered_before = 0,
        failed_before = 0,
        outcome_second = 0
    }
    do
        local k = 0
        while k < ____exports.WINDOW_S do
            budget.requests[k + 1] = 0
            budget.retries[k + 1] = 0
            k = k + 1
        end
    end
    return budget
end
--- What is allowed in any case is for all workers together; but one retry in the window each worker has for itself, or the
-- first failure on a quiet gateway of many workers would not be retried, as nginx alone would.
function ____exports.shareReserve(budget, workers)
    if budget.reserve > 0 then
        budget.reserve = math_max(1, budget.reserve / workers)
    end
end
--- Forgets the seconds that have left the window.
local function advance(budget, now_ms)
    local second = math_floor(now_ms / 1000)
    if second <= budget.second then
        return
    end
    local passed = math_min(____exports.WINDOW_S, second - budget.second)
    do
        local k = 0
        while k < passed do
            local at = (second - k) % ____exports.WINDOW_S
            budget.request_count = budget.request_count - budget.requests[at + 1]
            budget.retry_count = budget.retry_count - budget.retries[at + 1]
            budget.requests[at + 1] = 0
            budget.retries[at + 1] = 0
            k = k + 1
        end
    end
    budget.second = second
end
--- A request's first try.
function ____exports.depositRequest(budget, now_ms)
    if now_ms >= (budget.second + 1) * 1000 then
        advance(budget, now_ms)
    end
    local ____budget_requests_0, ____temp_1 = budget.requests, budget.second % ____exports.WINDOW_S + 1
    ____budget_requests_0[____temp_1] = ____budget_requests_0[____temp_1] + 1
    budget.request_count = budget.request_count + 1
end
--- Begins a new second of outcomes.
local function turnOutcomes(budget, now_ms)
    local second = math_floor(now_ms / 1000)
    if second <= budget.outcome_second then
        return
    end
    local is_next = second == budget.outcome_second + 1
    budget.answered_before = is_next and budget.answered or 0
    budget.failed_before = is_next and budget.failed or 0
    budget.answered = 0
    budget.failed = 0
    budget.outcome_second = second
end
--- Tells what became of the tries that ended since the last call, and decides whether a budget that nobody chose binds:
-- it does when over one to two seconds, and since the last call, next to nothing was answered; a few failures are no
-- proof. The first answers end it.
function ____exports.noteOutcomes(budget, answered, failed, now_ms)
    if budget.is_chosen then
        return
    end
    turnOutcomes(budget, now_ms)
    budget.answered = budget.answered + answered
    budget.failed = budget.failed + failed
    local all_answered = budget.answered + budget.answered_before
    local is_useless = budget.failed + budget.failed_before > (all_answered + 1) * FAILED_PER_ANSWER
    local is_news = answered + failed > 0
    local ____budget_4 = budget
    local ____is_useless_3 = is_useless
    if ____is_useless_3 then
        local ____is_news_2
        if is_news then
            ____is_news_2 = failed > answered * FAILED_PER_ANSWER
        else
            ____is_news_2 = budget.binds
        end
        ____is_useless_3 = ____is_news_2
    end
    ____budget_4.binds = ____is_useless_3
end
---
-- @returns whether one more try of a request is allowed; it is counted then
function ____exports.withdrawRetry(budget, now_ms)
    if now_ms >= (budget.second + 1) * 1000 then
        advance(budget, now_ms)
    end
    local allowed = budget.request_count * budget.ratio + budget.reserve + 1e-9
    if budget.binds and budget.retry_count + 1 > allowed then
        return false
    end
    local ____budget_retries_5, ____temp_6 = budget.retries, budget.second % ____exports.WINDOW_S + 1
    ____budget_retries_5[____temp_6] = ____budget_retries_5[____temp_6] + 1
    budget.retry_count = budget.retry_count + 1
    return true
end
return ____exports
