local math_floor = math.floor
local math_max = math.max
local ____exports = {}
local ____rate_sweep = require("resty.ax.core.rate_sweep")
local newSweeps = ____rate_sweep.newSweeps
local sweepKeys = ____rate_sweep.sweepKeys
--- Slots in a burst, at best: a fifth of it is the grain.
local PARTS = 5
--- A burst is at least the rate of a second ÷ this, what comes in 5 ms: then a slot lasts a millisecond, one step of nginx'
-- clock. With shorter ones tokens are lost before any worker looks.
____exports.BURSTS_A_SECOND_MOST = 200
---
-- @param name tells limits apart
-- @param rate_per_s over 0
-- @param burst whole, 2 or more, and the rate ÷ BURSTS_A_SECOND_MOST
function ____exports.newRateLimit(store, name, rate_per_s, burst, now_ms)
    local tokens = math_max(
        1,
        math_floor(burst / PARTS)
    )
    local slot_ms = tokens * 1000 / rate_per_s
    local lives = math_floor(burst / tokens) - 1
    local prefix = ((("rate:" .. name) .. ":") .. tostring(slot_ms)) .. ":"
    local sweeps = newSweeps(store, name, slot_ms, now_ms)
    return {
        store = store,
        name = name,
        rate_per_s = rate_per_s,
        burst = burst,
        tokens = tokens,
        slot_ms = slot_ms,
        lives = lives,
        prefix = prefix,
        slot = -1,
        key = "",
        sweeps = sweeps
    }
end
local function useSlot(limit, slot)
    limit.slot = slot
    limit.key = limit.prefix .. tostring(slot)
end
--- Takes one token.
-- 
-- @returns whether the request may pass; true also when the store has no room
function ____exports.takeToken(limit, now_ms)
    local current = math_floor(now_ms / limit.slot_ms)
    if limit.slot < current - limit.lives then
        useSlot(limit, current - limit.lives)
    end
    while limit.slot < current do
        local taken = limit.store.incr(limit.key, 1)
        if taken == nil or taken <= limit.tokens then
            return true
        end
        useSlot(limit, limit.slot + 1)
    end
    return false
end
---
-- @returns ms until the next tokens come into being
function ____exports.retryAfterMs(limit, now_ms)
    return (math_floor(now_ms / limit.slot_ms) + 1) * limit.slot_ms - now_ms
end
--- Removes the counts of slots long past. Flush.
function ____exports.sweepTokens(limit, now_ms)
    sweepKeys(limit.sweeps, now_ms)
end
return ____exports
