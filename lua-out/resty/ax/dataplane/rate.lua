local math_floor = math.floor
local math_max = math.max
local ____exports = {}
local ____rate_limit = require("resty.ax.core.rate_limit")
local newRateLimit = ____rate_limit.newRateLimit
local takeToken = ____rate_limit.takeToken
--- A burst is a tenth of a second's requests: what comes at once when clients are not in step.
local BURST_SHARE = 0.1
---
-- @returns undefined when none is configured
function ____exports.gatewayLimit(config, store, now_ms)
    local rate = config.global_qps_limit
    if rate == nil then
        return nil
    end
    local burst = config.global_qps_burst or math_max(
        2,
        math_floor(rate * BURST_SHARE)
    )
    return newRateLimit(
        store,
        "gateway",
        rate,
        burst,
        now_ms
    )
end
--- Whether the gateway's rate allows one more request. Once per request, before anything else is decided. Access phase.
function ____exports.allowRequest(rate_limit, now_ms)
    return rate_limit == nil or takeToken(rate_limit, now_ms)
end
return ____exports
