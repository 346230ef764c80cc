local math_floor = math.floor
local ____exports = {}
local ____slots = require("resty.ax.core.slots")
local HELD_SPAN = ____slots.HELD_SPAN
local VERSIONS = ____slots.VERSIONS
--- A block is this part of what is free: sixteen workers could lease one each.
local BLOCK_SHARE = 16
--- A block's size at most: a flush's worth of requests at some hundred a second; more would only lie idle.
local BLOCK_MAX = 64
--- With less than this free, blocks are of one slot, and idle slots go back at once.
local NEAR = 2 * BLOCK_SHARE
--- A lease that nothing has used for so long goes back, whatever is free.
local IDLE_MS = 1000
--- Says in the worker's own key what it holds.
function ____exports.writeHeld(slots, at, held)
    local version = (slots.version[at + 1] + 1) % VERSIONS
    slots.version[at + 1] = version
    return slots.store.set(slots.held_key[at + 1], version * HELD_SPAN + held)
end
---
-- @returns slots to lease at a time
local function blockSize(slots, at, cap)
    local block = math_floor((cap - slots.seen[at + 1]) / BLOCK_SHARE)
    return block < 1 and 1 or (block > BLOCK_MAX and BLOCK_MAX or block)
end
--- Whether it is as full as it was last. One read, where trying to lease would be four accesses: workers with waiting
-- requests ask of every node that was full, and go on asking.
local function isFull(slots, at, cap)
    local total = slots.store.get(slots.total_key[at + 1])
    slots.seen[at + 1] = type(total) == "number" and total or 0
    return slots.seen[at + 1] >= cap
end
--- Leases at least one more slot.
-- 
-- @param cap the most that all workers may lease
-- @returns false when they have; true also when the store has no room, for that is our fault and not the request's
function ____exports.lease(slots, at, cap)
    if slots.seen[at + 1] >= cap and isFull(slots, at, cap) then
        return false
    end
    local store = slots.store
    local block = blockSize(slots, at, cap)
    local held = slots.held[at + 1]
    if not ____exports.writeHeld(slots, at, held + block) then
        slots.unleased_total = slots.unleased_total + 1
        return true
    end
    local total = store.incr(slots.total_key[at + 1], block)
    if total == nil then
        ____exports.writeHeld(slots, at, held)
        slots.unleased_total = slots.unleased_total + 1
        return true
    end
    local over = total > cap and total - cap or 0
    local back = over < block and over or block
    slots.seen[at + 1] = total - back
    slots.held[at + 1] = held + block - back
    if back > 0 then
        store.incr(slots.total_key[at + 1], -back)
        ____exports.writeHeld(slots, at, slots.held[at + 1])
        store.incr(slots.freed_key, 1)
    end
    return back < block
end
--- Gives `count` slots back, and says so when the node was full: others may be waiting for it.
local function giveBack(slots, at, count)
    local held = slots.held[at + 1] - count
    slots.held[at + 1] = held
    local total = slots.store.incr(slots.total_key[at + 1], -count)
    ____exports.writeHeld(slots, at, held)
    if total == nil then
        return
    end
    slots.seen[at + 1] = total
    if at < slots.n and total + count >= slots.limit[at + 1] then
        slots.store.incr(slots.freed_key, 1)
    end
end
--- After a request: near the limit, its slot goes back.
function ____exports.giveIdle(slots, at)
    if slots.eager or slots.limit[at + 1] - slots.seen[at + 1] < NEAR then
        giveBack(slots, at, slots.held[at + 1] - slots.used[at + 1])
    end
end
--- One limit's part of the flush.
local function settleOne(slots, at, now_ms)
    local held = slots.held[at + 1]
    local total = slots.store.get(slots.total_key[at + 1])
    slots.seen[at + 1] = type(total) == "number" and total or 0
    if total == nil then
        slots.store.add(slots.total_key[at + 1], 0)
    end
    local written = slots.store.get(slots.held_key[at + 1])
    if written ~= slots.version[at + 1] * HELD_SPAN + held then
        ____exports.writeHeld(slots, at, held)
    end
    local idle = held - slots.used[at + 1]
    if idle <= 0 then
        return
    end
    if slots.touched[at + 1] then
        slots.touched[at + 1] = false
        slots.idle_since_ms[at + 1] = now_ms
    end
    local is_tight = slots.eager or slots.seen[at + 1] > slots.limit[at + 1] / 2
    if is_tight or now_ms - slots.idle_since_ms[at + 1] >= IDLE_MS then
        giveBack(slots, at, idle)
    end
end
--- Brings this worker's leases in line with what it uses. Flush.
function ____exports.settleLeases(slots, now_ms)
    do
        local at = 0
        while at <= slots.n do
            if slots.held[at + 1] > 0 then
                settleOne(slots, at, now_ms)
            end
            at = at + 1
        end
    end
end
return ____exports
