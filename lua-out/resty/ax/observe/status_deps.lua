local math_floor = math.floor
local ____exports = {}
---
-- @returns the object whose JSON text is kept under `key`; undefined when there is none, or it is damaged. Any phase.
function ____exports.decodeObject(deps, key)
    local text = deps.store.get(key)
    if type(text) ~= "string" then
        return nil
    end
    local value = deps.decode(text)
    return type(value) == "table" and value or nil
end
--- Four decimals are more than any of these figures means.
function ____exports.rounded(value)
    return math_floor(value * 10000 + 0.5) / 10000
end
---
-- @returns whole milliseconds between the two, in s
function ____exports.seconds(from_ms, to_ms)
    return math_floor(to_ms - from_ms) / 1000
end
return ____exports
