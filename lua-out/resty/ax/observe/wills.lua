local math_floor = math.floor
local ____exports = {}
local ____operator = require("resty.ax.core.operator")
local isInForce = ____operator.isInForce
local parseWill = ____operator.parseWill
local willKey = ____operator.willKey
local willVersionKey = ____operator.willVersionKey
local ____values = require("resty.ax.core.values")
local asCount = ____values.asCount
---
-- @returns whether any node of the upstream ever had a will: otherwise there is nothing to look for.
function ____exports.hasWills(store, upstream)
    return asCount(store.get(willVersionKey(upstream))) > 0
end
---
-- @returns the will that holds for the node now, or undefined. Any phase.
function ____exports.readWill(store, decode, upstream, id, now_ms)
    local text = store.get(willKey(upstream, id))
    local ____temp_0
    if type(text) == "string" then
        ____temp_0 = parseWill(decode(text))
    else
        ____temp_0 = nil
    end
    local will = ____temp_0
    return will ~= nil and isInForce(will, now_ms) and will or nil
end
---
-- @returns the will as the API shows it
function ____exports.willStatus(will, now_ms)
    local status = {
        kind = will.kind,
        since_s = math_floor(now_ms - will.at_ms) / 1000
    }
    if will.until_ms ~= nil then
        status.until_s = math_floor(will.until_ms - now_ms) / 1000
    end
    status.why = will.why
    status.by = will.by
    return status
end
return ____exports
