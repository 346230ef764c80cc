local math_max = math.max
local math_min = math.min
local ____exports = {}
local mark
local ____fraction = require("resty.ax.core.fraction")
local fraction = ____fraction.fraction
local ____values = require("resty.ax.core.values")
local asCount = ____values.asCount
function mark(slots, at)
    if slots.is_closed[at + 1] then
        return
    end
    slots.is_closed[at + 1] = true
    slots.closed_count = slots.closed_count + 1
end
--- Times that are not set (core/fraction.ts): of a refusal, and until when a node is held back.
____exports.NEVER_MS = fraction(-1)
____exports.NOT_HELD_MS = fraction(0)
--- A refusal is taken as still true for so long: the nginx clock's tick and one more.
local REFUSED_FOR_MS = 2
--- Something has changed: whether every node is full is to be found out anew.
function ____exports.forgetFull(slots)
    slots.all_full_until_ms = ____exports.NOT_HELD_MS
    slots.all_hard_full_until_ms = ____exports.NOT_HELD_MS
end
--- Whether any node was refused, or all: far from the limits there is nothing to forget.
function ____exports.hasMarks(slots)
    return slots.closed_count > 0 or slots.all_full_until_ms > 0 or slots.all_hard_full_until_ms > 0
end
--- The most that the pick under way may have leased, over all workers.
function ____exports.capOf(slots, at)
    if slots.allow == 0 then
        return slots.limit[at + 1]
    end
    return slots.allow == 1 and slots.hard[at + 1] or slots.patient[at + 1]
end
--- The node has refused a slot under this cap.
function ____exports.close(slots, at, cap, now_ms)
    slots.refused_ms[at + 1] = now_ms
    if cap == slots.hard[at + 1] then
        slots.refused_hard_ms[at + 1] = now_ms
        if slots.hard[at + 1] > slots.limit[at + 1] then
            slots.cooling_until_ms[at + 1] = now_ms + slots.cool_down_ms
        end
    end
    mark(slots, at)
end
--- A node that fails is left alone for no longer than this, ms: when it works again it is to be found out soon.
local PACED_MAX_MS = 1000
--- The node has failed a request. While all others are full its place would be the only one free, again and again, and
-- a node that fails at once would be given everything that waits. So to those that can wait, each failure takes some of
-- the node's time: as many times that of an answer as it is worse than the best node. Where all fail alike, or there is
-- only one, nothing is held back: then a wait gains nothing. Log and balancer phases.
-- 
-- @param latency_ms of its answers
-- @param worse the best node's share of successes ÷ its own, less 1: 0 or more
function ____exports.pace(slots, node, latency_ms, worse, now_ms)
    local limit = slots.limit[node + 1]
    if limit == 0 or worse <= 0 then
        return
    end
    local begin_ms = math_max(now_ms, slots.paced_until_ms[node + 1])
    slots.paced_until_ms[node + 1] = math_min(begin_ms + latency_ms / limit * worse, now_ms + PACED_MAX_MS)
    mark(slots, node)
end
--- Takes the marks off that are no longer true.
local function reopen(slots, at, now_ms)
    if now_ms - slots.refused_ms[at + 1] < REFUSED_FOR_MS or now_ms < slots.cooling_until_ms[at + 1] then
        return
    end
    if now_ms < slots.paced_until_ms[at + 1] then
        return
    end
    slots.refused_ms[at + 1] = ____exports.NEVER_MS
    slots.refused_hard_ms[at + 1] = ____exports.NEVER_MS
    slots.cooling_until_ms[at + 1] = ____exports.NOT_HELD_MS
    slots.is_closed[at + 1] = false
    slots.closed_count = slots.closed_count - 1
end
--- Looks which nodes are open again, once per turn of the clock. Before the slow kind of pick: call it when
-- `closed_count` is not 0.
function ____exports.reopenAll(slots, now_ms)
    if slots.reopened_at_ms == now_ms then
        return
    end
    slots.reopened_at_ms = now_ms
    do
        local node = 0
        while node < slots.n do
            if slots.is_closed[node + 1] then
                reopen(slots, node, now_ms)
            end
            node = node + 1
        end
    end
end
--- Nodes for which "all are full" is believed for a ms longer: finding out costs the store a read or two for each.
local NODES_PER_MS = 250
--- All nodes are looked at again after so long even if nobody has freed anything: a node may have joined, or its limit moved.
local RESCAN_MS = 20
--- A whole pick has found every node full: so it is for others of its kind, and for those that may use less.
function ____exports.noteAllFull(slots, now_ms)
    local until_ms = now_ms + math_max(REFUSED_FOR_MS, slots.n / NODES_PER_MS)
    slots.all_full_until_ms = until_ms
    if slots.allow_last == 1 then
        slots.all_hard_full_until_ms = until_ms
    end
    slots.rescan_ms = now_ms + RESCAN_MS
    do
        local node = 0
        while node < slots.n do
            local paced_ms = slots.paced_until_ms[node + 1]
            if paced_ms > now_ms and paced_ms < slots.rescan_ms then
                slots.rescan_ms = paced_ms
            end
            node = node + 1
        end
    end
end
--- Somebody has freed a place since: refusals may be true no longer.
local function forgetRefusals(slots)
    ____exports.forgetFull(slots)
    do
        local node = 0
        while node < slots.n do
            if slots.is_closed[node + 1] then
                slots.refused_ms[node + 1] = ____exports.NEVER_MS
                slots.refused_hard_ms[node + 1] = ____exports.NEVER_MS
            end
            node = node + 1
        end
    end
end
--- Whether a pick like the one under way has found every node full, and nobody has freed anything since: one read of the
-- store, every REFUSED_FOR_MS at most. When the answer is no, the nodes are to be looked at.
function ____exports.areAllFull(slots, now_ms)
    local is_last = slots.allow_last == 1
    local until_ms = is_last and slots.all_hard_full_until_ms or slots.all_full_until_ms
    if now_ms < until_ms then
        return true
    end
    local freed = asCount(slots.store.get(slots.freed_key))
    if freed ~= slots.freed_seen then
        slots.freed_seen = freed
        forgetRefusals(slots)
        return false
    end
    local is_full = until_ms > 0 and now_ms < slots.rescan_ms
    local next_ms = is_full and now_ms + REFUSED_FOR_MS or 0
    if is_last or not is_full then
        slots.all_hard_full_until_ms = next_ms
    end
    if not is_last then
        slots.all_full_until_ms = next_ms
    end
    return is_full
end
--- Whether a refusal is still taken as true.
function ____exports.wasRefused(at_ms, now_ms)
    return at_ms >= 0 and now_ms - at_ms < REFUSED_FOR_MS
end
--- Whether the pick under way must leave the node out: it was refused just now, or it is overloaded and cools down.
function ____exports.isClosed(slots, node, now_ms)
    if not slots.is_closed[node + 1] then
        return false
    end
    if slots.allow_last == 2 and now_ms < slots.paced_until_ms[node + 1] then
        return true
    end
    if slots.allow ~= 0 then
        local is_hard = ____exports.capOf(slots, node) == slots.hard[node + 1]
        return ____exports.wasRefused(is_hard and slots.refused_hard_ms[node + 1] or slots.refused_ms[node + 1], now_ms)
    end
    return now_ms < slots.cooling_until_ms[node + 1] or ____exports.wasRefused(slots.refused_ms[node + 1], now_ms)
end
return ____exports
