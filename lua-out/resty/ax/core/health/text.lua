-- Lua Library inline imports
local function __TS__StringSubstring(self, start, ____end)
    if ____end ~= ____end then
        ____end = 0
    end
    if ____end ~= nil and start > ____end then
        start, ____end = ____end, start
    end
    if start >= 0 then
        start = start + 1
    else
        start = 1
    end
    if ____end ~= nil and ____end < 0 then
        ____end = 0
    end
    return string.sub(self, start, ____end)
end
-- End of Lua Library inline imports
local ____exports = {}
local ____reasons = require("resty.ax.core.reasons")
local percentText = ____reasons.percentText
local secondsText = ____reasons.secondsText
local ____ramp = require("resty.ax.core.health.ramp")
local rampFactor = ____ramp.rampFactor
--- Separates the cause from what moves with the time, in a reason's text.
local CAUSE_END = "; "
---
-- @returns why the node is in its state, in words, with the numbers
function ____exports.reasonText(health, upstream, now_ms)
    local text = health.cause
    if health.state == "ramping" then
        text = text .. (CAUSE_END .. percentText(rampFactor(health, upstream, now_ms))) .. " % of its share"
    end
    if health.kept ~= nil then
        text = text .. (CAUSE_END .. "kept, the pool cannot spare it, in spite of ") .. health.kept
    elseif health.error_since_ms ~= nil then
        local lasted = secondsText(now_ms - health.error_since_ms)
        text = text .. ((((CAUSE_END .. "error rate over ") .. percentText(upstream.eject_error_rate)) .. " % for ") .. lasted) .. " s"
    end
    return text
end
---
-- @returns the cause in a reason's text: what a collector takes over from one that did not publish causes
function ____exports.causeOf(reason)
    local ____end = (string.find(reason, CAUSE_END, nil, true) or 0) - 1
    return ____end < 0 and reason or __TS__StringSubstring(reason, 0, ____end)
end
return ____exports
