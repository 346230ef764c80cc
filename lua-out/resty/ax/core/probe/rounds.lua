local math_floor = math.floor
local math_huge = math.huge
local math_max = math.max
-- Lua Library inline imports
local function __TS__ArraySort(self, compareFn)
    if compareFn ~= nil then
        table.sort(
            self,
            function(a, b) return compareFn(nil, a, b) < 0 end
        )
    else
        table.sort(self)
    end
    return self
end
-- End of Lua Library inline imports
local ____exports = {}
local wrap
local ____hash = require("resty.ax.core.hash")
local HASH_RANGE = ____hash.HASH_RANGE
local hashBytes = ____hash.hashBytes
function wrap(round)
    if round.next < #round.order then
        return
    end
    round.next = 0
    round.begin_ms = round.begin_ms + round.interval_ms
end
--- Seeds of the hashes for the two kinds of places. Any constants do.
local PLACE_SEED = 11
local TURN_SEED = 13
local function divisor(a, b)
    local x = a
    local y = b
    while y > 0 do
        local rest = x % y
        x = y
        y = rest
    end
    return x
end
--- Where in its interval the first kind of check of a node is due, ms.
function ____exports.placeMs(name, interval_ms)
    return math_floor(hashBytes(name, PLACE_SEED) / HASH_RANGE * interval_ms)
end
--- Where in its interval the second kind of check of the same node is due, ms: never nearer to the first than half of the
-- intervals' greatest common divisor, half a second with 3 s and 10 s. For the two places differ by that much, and any
-- number of intervals of either kind adds multiples of the divisor only.
function ____exports.offsetPlaceMs(name, first_interval_ms, interval_ms)
    local step_ms = divisor(first_interval_ms, interval_ms)
    local turn = hashBytes(name, TURN_SEED) % math_max(
        1,
        math_floor(interval_ms / step_ms)
    )
    local place_ms = ____exports.placeMs(name, first_interval_ms) + math_floor(step_ms / 2) + turn * step_ms
    return place_ms % interval_ms
end
---
-- @param places_ms of the nodes, by index
-- @param now_ms monotonic ms; nothing is due before
function ____exports.newRound(places_ms, interval_ms, now_ms)
    local order = {}
    do
        local i = 0
        while i < #places_ms do
            order[i + 1] = i
            i = i + 1
        end
    end
    __TS__ArraySort(
        order,
        function(____, a, b) return places_ms[a + 1] == places_ms[b + 1] and a - b or places_ms[a + 1] - places_ms[b + 1] end
    )
    local sorted = {}
    do
        local i = 0
        while i < #order do
            sorted[i + 1] = places_ms[order[i + 1] + 1]
            i = i + 1
        end
    end
    local begin_ms = math_floor(now_ms / interval_ms) * interval_ms
    local round = {
        interval_ms = interval_ms,
        order = order,
        places_ms = sorted,
        next = 0,
        begin_ms = begin_ms
    }
    while round.next < #order and begin_ms + sorted[round.next + 1] <= now_ms do
        round.next = round.next + 1
    end
    wrap(round)
    return round
end
--- When the next check is due, monotonic ms; Infinity without nodes.
function ____exports.nextDueMs(round)
    return #round.order == 0 and math_huge or round.begin_ms + round.places_ms[round.next + 1]
end
--- Takes one node that is due. Called until it returns undefined. After a long pause each node is
-- due once or twice, not once for every interval missed; who is in line already is not put there again (prober.ts).
-- 
-- @returns its index; undefined when no (more) node is due
function ____exports.takeDue(round, now_ms)
    local due_ms = ____exports.nextDueMs(round)
    if due_ms > now_ms then
        return nil
    end
    local missed = math_floor((now_ms - due_ms) / round.interval_ms) - 1
    if missed > 0 then
        round.begin_ms = round.begin_ms + missed * round.interval_ms
    end
    local node = round.order[round.next + 1]
    round.next = round.next + 1
    wrap(round)
    return node
end
return ____exports
