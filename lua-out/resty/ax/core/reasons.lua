local math_floor = math.floor
local ____exports = {}
---
-- @returns whole seconds: "31"
function ____exports.secondsText(ms)
    return tostring(math_floor(ms / 1000 + 0.5))
end
---
-- @param share 0..1
-- @returns percent with at most one decimal: "12.4", "5"
function ____exports.percentText(share)
    return tostring(math_floor(share * 1000 + 0.5) / 10)
end
--- "1 connection failure in a row (max_fails 1)"
function ____exports.streakText(streak, max_fails)
    local failures = streak == 1 and "1 connection failure" or tostring(streak) .. " connection failures in a row"
    return ((failures .. " (max_fails ") .. tostring(max_fails)) .. ")"
end
--- "error rate 12.4 % for 31 s (limit 5 % for 30 s)"
function ____exports.errorRateText(rate, for_ms, limit, limit_s)
    return ((((((("error rate " .. ____exports.percentText(rate)) .. " % for ") .. ____exports.secondsText(for_ms)) .. " s (limit ") .. ____exports.percentText(limit)) .. " % for ") .. tostring(limit_s)) .. " s)"
end
return ____exports
