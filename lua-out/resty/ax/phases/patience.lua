local math_huge = math.huge
local tonumber = tonumber
local ____exports = {}
local ____request = require("resty.ax.nginx.request")
local variable = ____request.variable
--- Nine digits are eleven days: more is no patience but nonsense.
local DIGITS_MAX = 9
---
-- @returns the number, or undefined when the text is anything but 1..9 digits
local function wholeNumber(text)
    if #text == 0 or #text > DIGITS_MAX then
        return nil
    end
    local found = string.find(text, "^%d+$")
    local ____temp_0
    if found == nil then
        ____temp_0 = nil
    else
        ____temp_0 = tonumber(text)
    end
    return ____temp_0
end
---
-- @returns how long the client will still wait, ms, by its deadline header; Infinity = it does not say
function ____exports.patienceMs(upstream)
    local name = upstream.door.deadline_variable
    if name == nil then
        return math_huge
    end
    return wholeNumber(variable(name) or "") or math_huge
end
return ____exports
