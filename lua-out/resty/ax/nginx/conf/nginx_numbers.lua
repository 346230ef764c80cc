local tonumber = tonumber
local ____exports = {}
--- nginx's limit, 2^63 - 1, as near as a double comes to it.
local MAX_INT = 9223372036854776000
---
-- @param text decimal digits (ngx_atoi in src/core/ngx_string.c)
-- @returns the number, or undefined
function ____exports.parseCount(text)
    if (string.find(text, "^%d+$")) == nil then
        return nil
    end
    local value = tonumber(text)
    return value ~= nil and value <= MAX_INT and value or nil
end
local SECONDS_STEP = 7
local UNITS = {
    y = {step = 1, seconds = 365 * 86400},
    M = {step = 2, seconds = 30 * 86400},
    w = {step = 3, seconds = 7 * 86400},
    d = {step = 4, seconds = 86400},
    h = {step = 5, seconds = 3600},
    m = {step = 6, seconds = 60},
    s = {step = SECONDS_STEP, seconds = 1},
    [" "] = {step = 8, seconds = 1}
}
--- A time in seconds (ngx_parse_time with is_sec = 1 in src/core/ngx_parse.c): "10", "10s", "1m30s",
-- "1h 30m". Milliseconds are not allowed there.
-- 
-- @returns seconds, or undefined
function ____exports.parseSeconds(text)
    local total = 0
    local step = 0
    local pos = 1
    local any_digit = false
    while pos <= #text do
        local digits, letter = string.match(text, "^(%d*)(.?)", pos)
        if digits ~= "" then
            any_digit = true
        end
        local value = digits == "" and 0 or (tonumber(digits) or MAX_INT)
        pos = pos + #digits
        if letter == "" then
            total = total + value
            break
        end
        local unit = UNITS[letter]
        if unit == nil or unit.step <= step then
            return nil
        end
        if letter == " " and step == SECONDS_STEP then
            return nil
        end
        if letter == "m" and string.sub(text, pos + 1, pos + 1) == "s" then
            return nil
        end
        step = unit.step
        total = total + value * unit.seconds
        pos = pos + 1
        while string.sub(text, pos, pos) == " " do
            pos = pos + 1
        end
    end
    return any_digit and total <= MAX_INT and total or nil
end
return ____exports
