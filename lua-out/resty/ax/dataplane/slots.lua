local ____exports = {}
local close, wasRefused, leaseFor, REFUSED_FOR_MS
local ____slots = require("resty.ax.core.slots")
local hardLimit = ____slots.hardLimit
local heldKey = ____slots.heldKey
local totalKey = ____slots.totalKey
local ____leases = require("resty.ax.dataplane.leases")
local giveIdle = ____leases.giveIdle
local lease = ____leases.lease
function close(slots, at, now_ms)
    slots.refused_ms[at + 1] = now_ms
    if slots.allow == 1 or slots.hard[at + 1] == slots.limit[at + 1] then
        slots.refused_hard_ms[at + 1] = now_ms
        if slots.hard[at + 1] > slots.limit[at + 1] then
            slots.cooling_until_ms[at + 1] = now_ms + slots.cool_down_ms
        end
    end
    if slots.is_closed[at + 1] then
        return
    end
    slots.is_closed[at + 1] = true
    slots.closed_count = slots.closed_count + 1
end
function wasRefused(at_ms, now_ms)
    return at_ms >= 0 and now_ms - at_ms < REFUSED_FOR_MS
end
function leaseFor(slots, at, now_ms)
    if slots.off or slots.holder == 0 then
        slots.unleased_total = slots.unleased_total + 1
        return true
    end
    if at == slots.n and wasRefused(slots.refused_ms[at + 1], now_ms) then
        return false
    end
    local cap = slots.allow == 1 and slots.hard[at + 1] or slots.limit[at + 1]
    if lease(slots, at, cap) then
        return true
    end
    if at < slots.n then
        close(slots, at, now_ms)
    else
        slots.refused_ms[at + 1] = now_ms
    end
    return false
end
REFUSED_FOR_MS = 2
local function addEntry(slots, id, limit, hard)
    local at = #slots.limit
    slots.limit[at + 1] = limit
    slots.hard[at + 1] = hard
    slots.own_limit[at + 1] = limit
    slots.own_hard[at + 1] = hard
    slots.total_key[at + 1] = totalKey(slots.upstream, id)
    slots.held_key[at + 1] = heldKey(slots.upstream, id, slots.holder)
    slots.used[at + 1] = 0
    slots.held[at + 1] = 0
    slots.version[at + 1] = 0
    slots.seen[at + 1] = 0
    slots.touched[at + 1] = false
    slots.idle_since_ms[at + 1] = 0
    slots.refused_ms[at + 1] = -1
    slots.refused_hard_ms[at + 1] = -1
    slots.cooling_until_ms[at + 1] = 0
    slots.is_closed[at + 1] = false
end
---
-- @param upstream its name
-- @param ids the nodes' identities
-- @param holder this worker's number; the keys it left when another process had the number are removed
function ____exports.newSlots(store, holder, upstream, ids, limits)
    local n = #ids
    local slots = {
        store = store,
        holder = holder,
        upstream = upstream,
        n = n,
        ids = ids,
        limit = {},
        hard = {},
        own_limit = {},
        own_hard = {},
        total_key = {},
        held_key = {},
        used = {},
        held = {},
        version = {},
        seen = {},
        touched = {},
        idle_since_ms = {},
        refused_ms = {},
        refused_hard_ms = {},
        cooling_until_ms = {},
        closed_count = 0,
        is_closed = {},
        all_full_until_ms = 0,
        reopened_at_ms = -1,
        allow = 0,
        cool_down_ms = limits.cool_down_ms,
        unleased_total = 0,
        off = false,
        eager = false
    }
    do
        local node = 0
        while node < n do
            addEntry(
                slots,
                ids[node + 1],
                limits.limit[node + 1],
                hardLimit(limits.limit[node + 1], limits.overflow_ratio[node + 1])
            )
            node = node + 1
        end
    end
    addEntry(slots, "", limits.whole, limits.whole)
    do
        local at = 0
        while at <= n do
            store.remove(slots.held_key[at + 1])
            at = at + 1
        end
    end
    return slots
end
--- This worker has got its number only now: the store was full before.
function ____exports.setHolder(slots, holder)
    slots.holder = holder
    do
        local at = 0
        while at <= slots.n do
            slots.held_key[at + 1] = heldKey(slots.upstream, at < slots.n and slots.ids[at + 1] or "", holder)
            slots.store.remove(slots.held_key[at + 1])
            at = at + 1
        end
    end
end
--- The adaptive limit of a node has moved: it holds from the next lease on, without overflow. Never more than what is
-- configured, with which it ends. Leases that are over it end with the requests that use them.
-- 
-- @param node number
-- @param limit 1 or more
function ____exports.setLimit(slots, node, limit)
    local own = slots.own_limit[node + 1]
    local lowered = limit < own
    slots.all_full_until_ms = 0
    slots.limit[node + 1] = lowered and limit or own
    slots.hard[node + 1] = lowered and limit or slots.own_hard[node + 1]
end
--- What counts as configured is another now: a backlog is being drained, or no longer.
-- 
-- @param at node number, or n for the upstream as a whole
-- @param limit 1 or more
function ____exports.setOwnLimit(slots, at, limit, overflow_ratio)
    slots.all_full_until_ms = 0
    slots.own_limit[at + 1] = limit
    slots.own_hard[at + 1] = hardLimit(limit, overflow_ratio)
    slots.limit[at + 1] = limit
    slots.hard[at + 1] = slots.own_hard[at + 1]
end
--- Takes the marks off that are no longer true.
local function reopen(slots, at, now_ms)
    if now_ms - slots.refused_ms[at + 1] < REFUSED_FOR_MS or now_ms < slots.cooling_until_ms[at + 1] then
        return
    end
    slots.refused_ms[at + 1] = -1
    slots.refused_hard_ms[at + 1] = -1
    slots.cooling_until_ms[at + 1] = 0
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
--- Nodes for which "all are full" is believed for a ms longer: finding out costs the store an access or two for each.
local NODES_PER_MS = 250
--- A whole pick has found every node full.
function ____exports.noteAllFull(slots, now_ms)
    slots.all_full_until_ms = now_ms + math.max(REFUSED_FOR_MS, slots.n / NODES_PER_MS)
end
--- Whether the pick under way must leave the node out: it was refused just now, or it is overloaded and cools down.
function ____exports.isClosed(slots, node, now_ms)
    if not slots.is_closed[node + 1] then
        return false
    end
    if slots.allow == 1 then
        return wasRefused(slots.refused_hard_ms[node + 1], now_ms)
    end
    return now_ms < slots.cooling_until_ms[node + 1] or wasRefused(slots.refused_ms[node + 1], now_ms)
end
--- Takes a slot for a request.
-- 
-- @param at node number, or n for the upstream as a whole
-- @returns false when the limit is reached (as `allow` has it); `isClosed` is true of it then
function ____exports.takeSlot(slots, at, now_ms)
    if slots.used[at + 1] >= slots.held[at + 1] and slots.limit[at + 1] > 0 and not leaseFor(slots, at, now_ms) then
        return false
    end
    local ____slots_used_0, ____temp_1 = slots.used, at + 1
    ____slots_used_0[____temp_1] = ____slots_used_0[____temp_1] + 1
    return true
end
--- A request has ended, or its try: its slot is free. Near the limit it goes back at once, for the other workers.
-- 
-- @param at node number, or n
function ____exports.freeSlot(slots, at)
    local ____slots_used_2, ____temp_3 = slots.used, at + 1
    ____slots_used_2[____temp_3] = ____slots_used_2[____temp_3] - 1
    if slots.limit[at + 1] == 0 then
        return
    end
    slots.refused_ms[at + 1] = -1
    slots.refused_hard_ms[at + 1] = -1
    if at < slots.n then
        slots.all_full_until_ms = 0
    end
    if slots.used[at + 1] >= slots.held[at + 1] then
        return
    end
    slots.touched[at + 1] = true
    giveIdle(slots, at)
end
return ____exports
