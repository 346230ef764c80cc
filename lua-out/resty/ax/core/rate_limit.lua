local ____exports = {}
local keptSlots, KEEP_MS
function keptSlots(limit)
    return limit.lives + 1 + math.ceil(KEEP_MS / limit.slot_ms)
end
--- Slots in a burst, at best: a fifth of it is the grain.
local PARTS = 5
KEEP_MS = 5000
---
-- @param name tells limits apart
-- @param rate_per_s over 0
-- @param burst whole, 2 or more
function ____exports.newRateLimit(store, name, rate_per_s, burst, now_ms)
    local tokens = math.max(
        1,
        math.floor(burst / PARTS)
    )
    local slot_ms = tokens * 1000 / rate_per_s
    local lives = math.floor(burst / tokens) - 1
    local limit = {
        store = store,
        name = name,
        rate_per_s = rate_per_s,
        burst = burst,
        tokens = tokens,
        slot_ms = slot_ms,
        lives = lives,
        slot = -1,
        key = "",
        swept = 0
    }
    limit.swept = math.floor(now_ms / slot_ms) - 2 * keptSlots(limit)
    return limit
end
local function useSlot(limit, slot)
    limit.slot = slot
    limit.key = (("rate:" .. limit.name) .. ":") .. tostring(slot)
end
--- Takes one token.
-- 
-- @returns whether the request may pass; true also when the store has no room
function ____exports.takeToken(limit, now_ms)
    local current = math.floor(now_ms / limit.slot_ms)
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
    return (math.floor(now_ms / limit.slot_ms) + 1) * limit.slot_ms - now_ms
end
--- Removes the counts of slots long past. Flush.
function ____exports.sweepTokens(limit, now_ms)
    local ____until = math.floor(now_ms / limit.slot_ms) - keptSlots(limit)
    do
        while limit.swept < ____until do
            limit.store.remove((("rate:" .. limit.name) .. ":") .. tostring(limit.swept))
            limit.swept = limit.swept + 1
        end
    end
end
return ____exports
