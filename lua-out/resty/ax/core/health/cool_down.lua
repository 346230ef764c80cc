local math_floor = math.floor
local math_max = math.max
local math_min = math.min
-- Lua Library inline imports
local function __TS__StringCharCodeAt(self, index)
    if index ~= index then
        index = 0
    end
    if index < 0 then
        return 0 / 0
    end
    return string.byte(self, index + 1) or 0 / 0
end
-- End of Lua Library inline imports
local ____exports = {}
local ____random = require("resty.ax.core.random")
local draw = ____random.draw
local newRandom = ____random.newRandom
--- Most of the jitter, as a share of the cool-down: unnoticed by people, enough to spread returns.
local JITTER = 0.05
--- `fail_timeout=0` is nginx's "within the same second".
local SHORTEST_COOL_DOWN_S = 1
--- How long a node stays out: doubled with every ejection in a row, up to a longest one, as in Envoy's outlier detection
-- (which adds the base time instead of doubling).
-- 
-- @param base_s the first cool-down, seconds
-- @param ejections in a row, this one included
-- @param max_s longest cool-down; one that begins longer stays as it is
-- @param id the node: gives the jitter, so that equal histories replay equally
-- @returns ms
function ____exports.coolDownMs(base_s, ejections, max_s, id)
    local first_s = math_max(SHORTEST_COOL_DOWN_S, base_s)
    local grown_s = math_min(
        first_s * 2 ^ math_min(ejections - 1, 32),
        math_max(max_s, first_s)
    )
    local seed = ejections
    do
        local i = 0
        while i < #id do
            seed = (seed * 31 + __TS__StringCharCodeAt(id, i)) % 2147483647
            i = i + 1
        end
    end
    return math_floor(grown_s * 1000 * (1 + JITTER * draw(newRandom(seed))))
end
return ____exports
