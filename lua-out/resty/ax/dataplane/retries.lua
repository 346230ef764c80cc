local ____exports = {}
local ____retry_budget = require("resty.ax.core.retry_budget")
local depositRequest = ____retry_budget.depositRequest
local noteOutcomes = ____retry_budget.noteOutcomes
local withdrawRetry = ____retry_budget.withdrawRetry
--- Some node has answered since the last flush: a node is back, and the budget has not heard of it.
local function isAnswering(____bindingPattern0)
    local counters
    counters = ____bindingPattern0.counters
    do
        local k = 0
        while k < counters.dirty_count do
            if counters.ok[counters.dirty[k + 1] + 1] > 0 then
                return true
            end
            k = k + 1
        end
    end
    return false
end
--- Called before every try. Which requests nginx retries at all (`proxy_next_upstream`, `non_idempotent`) is its own
-- decision: it does not ask for a node then. Balancer phase.
-- 
-- @returns whether the try may be made; a retry that may is counted against the budget
function ____exports.mayTry(upstream, record, now_ms)
    if record.tries == record.earlier_tries then
        record.first_ms = now_ms
        depositRequest(upstream.retry_budget, now_ms)
        return true
    end
    local counts = upstream.tallies.total
    local deadline_ms = upstream.config.retry_deadline_ms
    if deadline_ms > 0 and now_ms - record.first_ms >= deadline_ms then
        counts.retries_late = counts.retries_late + 1
        return false
    end
    local budget = upstream.retry_budget
    if not withdrawRetry(budget, now_ms) and (budget.is_chosen or not isAnswering(upstream)) then
        counts.retries_denied = counts.retries_denied + 1
        return false
    end
    counts.retries = counts.retries + 1
    return true
end
--- Tells the budget what became of the tries since the last flush. Flush, before the counters are taken out.
function ____exports.weighRetries(upstream, now_ms)
    local ____upstream_0 = upstream
    local counters = ____upstream_0.counters
    local retry_budget = ____upstream_0.retry_budget
    local answered = 0
    local failed = 0
    do
        local k = 0
        while k < counters.dirty_count do
            local node = counters.dirty[k + 1]
            answered = answered + counters.ok[node + 1]
            failed = failed + (counters.err[node + 1] + counters.fail[node + 1] + counters.busy[node + 1])
            k = k + 1
        end
    end
    noteOutcomes(retry_budget, answered, failed, now_ms)
end
return ____exports
