local math_abs = math.abs
local math_floor = math.floor
local ____exports = {}
local MODULUS, MULTIPLIER
---
-- @returns a number in [0, 1)
function ____exports.draw(random)
    local state = random.state * MULTIPLIER % MODULUS
    random.state = state
    return (state - 1) / (MODULUS - 1)
end
MODULUS = 2147483647
MULTIPLIER = 48271
---
-- @param seed any finite number; equal seeds give equal sequences
function ____exports.newRandom(seed)
    local random = {state = math_floor(math_abs(seed)) % (MODULUS - 1) + 1}
    do
        local i = 0
        while i < 8 do
            ____exports.draw(random)
            i = i + 1
        end
    end
    return random
end
---
-- @returns a whole number in 0 .. n-1
function ____exports.drawBelow(random, n)
    return math_floor(____exports.draw(random) * n)
end
return ____exports
