local math_min = math.min
local ____exports = {}
local leaseFor
local ____slots = require("resty.ax.core.slots")
local freedKey = ____slots.freedKey
local hardLimit = ____slots.hardLimit
local heldKey = ____slots.heldKey
local totalKey = ____slots.totalKey
local ____leases = require("resty.ax.dataplane.leases")
local giveIdle = ____leases.giveIdle
local lease = ____leases.lease
local writeHeld = ____leases.writeHeld
local ____slot_marks = require("resty.ax.dataplane.slot_marks")
local capOf = ____slot_marks.capOf
local close = ____slot_marks.close
local forgetFull = ____slot_marks.forgetFull
local hasMarks = ____slot_marks.hasMarks
local NEVER_MS = ____slot_marks.NEVER_MS
local NOT_HELD_MS = ____slot_marks.NOT_HELD_MS
local wasRefused = ____slot_marks.wasRefused
function leaseFor(slots, at, now_ms)
    if slots.off or slots.holder == 0 then
        slots.unleased_total = slots.unleased_total + 1
        return true
    end
    if at == slots.n and wasRefused(slots.refused_ms[at + 1], now_ms) then
        return false
    end
    local cap = capOf(slots, at)
    if lease(slots, at, cap) then
        return true
    end
    if at < slots.n then
        close(slots, at, cap, now_ms)
    else
        slots.refused_ms[at + 1] = now_ms
    end
    return false
end
local function addEntry(slots, id, limit, hard, patient)
    local at = #slots.limit
    slots.limit[at + 1] = limit
    slots.hard[at + 1] = hard
    slots.patient[at + 1] = patient
    slots.own_limit[at + 1] = limit
    slots.own_hard[at + 1] = hard
    slots.own_patient[at + 1] = patient
    slots.total_key[at + 1] = totalKey(slots.upstream, id)
    slots.held_key[at + 1] = heldKey(slots.upstream, id, slots.holder)
    slots.used[at + 1] = 0
    slots.held[at + 1] = 0
    slots.version[at + 1] = 0
    slots.seen[at + 1] = 0
    slots.touched[at + 1] = false
    slots.idle_since_ms[at + 1] = 0
    slots.refused_ms[at + 1] = NEVER_MS
    slots.refused_hard_ms[at + 1] = NEVER_MS
    slots.cooling_until_ms[at + 1] = NOT_HELD_MS
    slots.paced_until_ms[at + 1] = NOT_HELD_MS
    slots.is_closed[at + 1] = false
end
local function addEntries(slots, limits)
    do
        local node = 0
        while node < slots.n do
            local limit = limits.limit[node + 1]
            local hard = hardLimit(limit, limits.overflow_ratio[node + 1])
            addEntry(
                slots,
                slots.ids[node + 1],
                limit,
                hard,
                limits.unchosen[node + 1] and hard or limit
            )
            node = node + 1
        end
    end
    addEntry(
        slots,
        "",
        limits.whole,
        limits.whole,
        limits.whole
    )
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
        patient = {},
        own_limit = {},
        own_hard = {},
        own_patient = {},
        moved_overflow_ratio = limits.moved_overflow_ratio,
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
        paced_until_ms = {},
        closed_count = 0,
        is_closed = {},
        all_full_until_ms = NOT_HELD_MS,
        all_hard_full_until_ms = NOT_HELD_MS,
        freed_key = freedKey(upstream),
        freed_seen = -1,
        rescan_ms = NOT_HELD_MS,
        reopened_at_ms = NEVER_MS,
        allow = 0,
        allow_last = 1,
        cool_down_ms = limits.cool_down_ms,
        unleased_total = 0,
        off = false,
        eager = false
    }
    addEntries(slots, limits)
    do
        local at = 0
        while at <= n do
            store.remove(slots.held_key[at + 1])
            at = at + 1
        end
    end
    return slots
end
--- This worker has got its number only now (the store was full before), or it has another one: somebody else has its own.
function ____exports.setHolder(slots, holder)
    slots.holder = holder
    do
        local at = 0
        while at <= slots.n do
            slots.held_key[at + 1] = heldKey(slots.upstream, at < slots.n and slots.ids[at + 1] or "", holder)
            if slots.held[at + 1] > 0 then
                writeHeld(slots, at, slots.held[at + 1])
            else
                slots.store.remove(slots.held_key[at + 1])
            end
            at = at + 1
        end
    end
end
--- The adaptive limit of a node has moved: it holds from the next lease on. Never more than what is configured, with
-- which it ends. Leases that are over it end with the requests that use them.
-- 
-- @param node number
-- @param limit 1 or more
function ____exports.setLimit(slots, node, limit)
    local own = slots.own_limit[node + 1]
    local lowered = limit < own
    forgetFull(slots)
    slots.limit[node + 1] = lowered and limit or own
    slots.patient[node + 1] = lowered and limit or slots.own_patient[node + 1]
    local own_hard = slots.own_hard[node + 1]
    slots.hard[node + 1] = lowered and math_min(
        hardLimit(limit, slots.moved_overflow_ratio),
        own_hard
    ) or own_hard
end
--- What counts as configured is another now: a backlog is being drained, or no longer.
-- 
-- @param at node number, or n for the upstream as a whole
-- @param limit 1 or more
function ____exports.setOwnLimit(slots, at, limit, overflow_ratio)
    forgetFull(slots)
    slots.own_limit[at + 1] = limit
    slots.own_hard[at + 1] = hardLimit(limit, overflow_ratio)
    slots.own_patient[at + 1] = limit
    slots.limit[at + 1] = limit
    slots.hard[at + 1] = slots.own_hard[at + 1]
    slots.patient[at + 1] = limit
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
    if at == slots.n or hasMarks(slots) then
        slots.refused_ms[at + 1] = NEVER_MS
        slots.refused_hard_ms[at + 1] = NEVER_MS
        if at < slots.n then
            forgetFull(slots)
        end
    end
    if slots.used[at + 1] >= slots.held[at + 1] then
        return
    end
    slots.touched[at + 1] = true
    giveIdle(slots, at)
end
return ____exports
