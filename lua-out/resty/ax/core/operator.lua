local ____exports = {}
local ____values = require("resty.ax.core.values")
local asNumber = ____values.asNumber
local asRecord = ____values.asRecord
local KINDS = {drain = "drain", maintenance = "maintenance", force_up = "force_up", force_down = "force_down"}
--- Names have no control characters (config/texts.ts), so that no two pairs of upstream and node share a key.
-- 
-- @returns key of a node's will in the store
function ____exports.willKey(upstream, node_id)
    return (("operator:" .. upstream) .. "\n") .. node_id
end
---
-- @returns key of the number that moves with every change of a will in the upstream
function ____exports.willVersionKey(upstream)
    return "operator:" .. upstream
end
---
-- @param value from JSON
-- @returns the will, or undefined when it is none: fields of the wrong type are left out, a missing kind or time makes it none
function ____exports.parseWill(value)
    local given = asRecord(value)
    local ____temp_2
    if type(given and given.kind) == "string" then
        ____temp_2 = KINDS[given.kind]
    else
        ____temp_2 = nil
    end
    local kind = ____temp_2
    local at_ms = asNumber(given and given.at_ms)
    if given == nil or kind == nil or at_ms == nil then
        return nil
    end
    local will = {
        kind = kind,
        at_ms = at_ms,
        until_ms = asNumber(given.until_ms)
    }
    if type(given.why) == "string" then
        will.why = given.why
    end
    if type(given.by) == "string" then
        will.by = given.by
    end
    return will
end
---
-- @returns whether it holds now: until it is taken back, or before its time
function ____exports.isInForce(will, now_ms)
    return will.until_ms == nil or now_ms < will.until_ms
end
---
-- @returns whether the node gets no new requests while it holds
function ____exports.keepsOut(will)
    return will.kind ~= "force_up"
end
local WORDS = {drain = "drained", maintenance = "in maintenance", force_up = "forced up", force_down = "forced down"}
---
-- @returns the will in words: `drained by the operator (alice): kernel update`
function ____exports.willText(will)
    local by = will.by == nil and "" or (" (" .. will.by) .. ")"
    local why = will.why == nil and "" or ": " .. will.why
    return ((WORDS[will.kind] .. " by the operator") .. by) .. why
end
return ____exports
