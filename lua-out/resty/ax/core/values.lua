local math_floor = math.floor
local math_huge = math.huge
local math_max = math.max
local ____exports = {}
---
-- @returns the value if it is a table, else undefined
function ____exports.asRecord(value)
    return type(value) == "table" and value ~= nil and value or nil
end
---
-- @returns the value if it is a number from 0 up, else 0
function ____exports.asCount(value)
    return type(value) == "number" and value >= 0 and value < math_huge and value or 0
end
---
-- @returns the value if it is a finite number, else undefined
function ____exports.asNumber(value)
    return type(value) == "number" and value > -math_huge and value < math_huge and value or nil
end
---
-- @param scale 10, 100, …: one, two, … decimals are kept
-- @returns the number with enough decimals to read, for a short text on the wire
function ____exports.round(value, scale)
    return math_floor(value * scale + 0.5) / scale
end
---
-- @returns the text with spaces behind it, which JSON allows, up to a length: a value that always fits where it was
function ____exports.padded(text, length)
    return text .. string.rep(
        " ",
        math_floor(math_max(0, length - #text))
    )
end
return ____exports
