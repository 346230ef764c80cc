local pcall = pcall
local ____exports = {}
local ____cost = require("resty.ax.core.cost")
local cheapest = ____cost.cheapest
local ____error_text = require("resty.ax.dataplane.error_text")
local errorText = ____error_text.errorText
--- The cheapest; equal ones take turns, at every call, not at every pick: a request may make two, one of them here.
function ____exports.cheapestInTurn(upstream, candidates, count)
    local at = cheapest(
        upstream.pool,
        candidates,
        count,
        upstream.turn % count,
        upstream.request.now_ms
    )
    upstream.turn = at + 1
    return candidates[at + 1]
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
local function pickCustom(upstream, pool, state, candidates, count, report)
    local ok, answer = pcall(
        upstream.strategy.pick,
        state,
        pool,
        candidates,
        count,
        upstream.request
    )
    if ok and isOneOf(candidates, count, answer) then
        return answer
    end
    report(
        "strategy",
        ok and (((("strategy_module \"" .. tostring(upstream.config.strategy_module)) .. "\" of upstream \"") .. upstream.config.name) .. "\" returned ") .. ((errorText(answer) .. ", which is not one of the ") .. tostring(count)) .. " candidates" or (((("strategy_module \"" .. tostring(upstream.config.strategy_module)) .. "\" of upstream \"") .. upstream.config.name) .. "\": ") .. errorText(answer)
    )
    return ____exports.cheapestInTurn(upstream, candidates, count)
end
---
-- @returns the strategy's choice among the first `count` of `candidates`, at least one
function ____exports.ask(upstream, pool, state, candidates, count, report)
    if upstream.strategy_is_custom then
        return pickCustom(
            upstream,
            pool,
            state,
            candidates,
            count,
            report
        )
    end
    return upstream.strategy.pick(
        state,
        pool,
        candidates,
        count,
        upstream.request
    )
end
return ____exports
