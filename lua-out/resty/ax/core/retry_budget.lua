local ____exports = {}
--- Seconds that requests count for: Finagle's and linkerd's time to live.
____exports.WINDOW_S = 10
---
-- @param ratio retries for each request, 0 or more
-- @param min_per_s retries a second that this worker may make in any case, 0 or more
function ____exports.newRetryBudget(ratio, min_per_s)
    local budget = {
        ratio = ratio,
        reserve = min_per_s * ____exports.WINDOW_S,
        requests = {},
        retries = {},
        request_count = 0,
        retry_count = 0,
        second = 0
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
        budget.reserve = math.max(1, budget.reserve / workers)
    end
end
--- Forgets the seconds that have left the window.
local function advance(budget, now_ms)
    local second = math.floor(now_ms / 1000)
    if second <= budget.second then
        return
    end
    local passed = math.min(____exports.WINDOW_S, second - budget.second)
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
---
-- @returns whether one more try of a request is within the budget; it is counted then
function ____exports.withdrawRetry(budget, now_ms)
    if now_ms >= (budget.second + 1) * 1000 then
        advance(budget, now_ms)
    end
    if budget.retry_count + 1 > budget.request_count * budget.ratio + budget.reserve + 1e-9 then
        return false
    end
    local ____budget_retries_2, ____temp_3 = budget.retries, budget.second % ____exports.WINDOW_S + 1
    ____budget_retries_2[____temp_3] = ____budget_retries_2[____temp_3] + 1
    budget.retry_count = budget.retry_count + 1
    return true
end
return ____exports
