local ____exports = {}
local ____retry_budget = require("resty.ax.core.retry_budget")
local depositRequest = ____retry_budget.depositRequest
local withdrawRetry = ____retry_budget.withdrawRetry
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
    if not withdrawRetry(upstream.retry_budget, now_ms) then
        counts.retries_denied = counts.retries_denied + 1
        return false
    end
    counts.retries = counts.retries + 1
    return true
end
return ____exports
