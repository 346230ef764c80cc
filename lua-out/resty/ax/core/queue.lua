local math_floor = math.floor
local math_huge = math.huge
local math_max = math.max
local ____exports = {}
local goesBefore, NOTHING
local ____heap = require("resty.ax.core.heap")
local heapHead = ____heap.heapHead
local heapPush = ____heap.heapPush
local heapRemove = ____heap.heapRemove
local newHeap = ____heap.newHeap
function goesBefore(queue, a, b)
    local key_a = queue.key[a + 1]
    local key_b = queue.key[b + 1]
    return key_a < key_b or key_a == key_b and queue.order[a + 1] < queue.order[b + 1]
end
--- 1 is the highest.
____exports.CLASS_COUNT = 5
--- Ten seconds in a line lift an entry to the one above.
____exports.AGE_MS = 10000
--- What `push` answers instead of an id.
____exports.QUEUE_FULL = -1
____exports.CLASS_FULL = -2
--- Ids are use × this + slot: a slot's next user has another id.
local SLOT_SPAN = 16777216
--- Uses of a slot before its ids begin again: id stays below 2^53.
local USES = 536870912
function ____exports.newQueue(options)
    local key = {}
    local order = {}
    local deadline_ms = {}
    local at = {}
    local by_class = {}
    local counts = {}
    do
        local k = 0
        while k < ____exports.CLASS_COUNT do
            by_class[k + 1] = newHeap(key, order, at)
            counts[k + 1] = 0
            k = k + 1
        end
    end
    return {
        options = options,
        length = 0,
        counts = counts,
        by_class = by_class,
        by_deadline = newHeap(deadline_ms, order, {}),
        item = {},
        class_of = {},
        use = {},
        deadline_ms = deadline_ms,
        enqueued_ms = {},
        key = key,
        order = order,
        free = {},
        free_count = 0,
        slot_count = 0,
        next_order = 0
    }
end
--- The place of an entry among all others, of other workers' queues too (their clocks are one): lower
-- goes first.
-- 
-- @param cls 1..5
function ____exports.keyOf(cls, enqueued_ms, age_ms)
    return cls == 1 and enqueued_ms or enqueued_ms + (cls - 1) * age_ms
end
local function takeSlot(queue)
    if queue.free_count > 0 then
        queue.free_count = queue.free_count - 1
        return queue.free[queue.free_count + 1]
    end
    local slot = queue.slot_count
    queue.slot_count = queue.slot_count + 1
    queue.use[slot + 1] = 0
    queue.by_class[1].at[slot + 1] = -1
    queue.by_deadline.at[slot + 1] = -1
    return slot
end
--- Lines an entry up.
-- 
-- @param item what waits; handed back by pop and expire
-- @param cls 1..5
-- @param enqueued_ms when its waiting began: now, or an earlier time for one that goes back to its place
-- @param deadline_ms when it has waited long enough; Infinity = never
-- @returns its id, for `remove`; QUEUE_FULL or CLASS_FULL when there is no room
function ____exports.push(queue, item, cls, enqueued_ms, deadline_ms)
    if queue.length >= queue.options.size then
        return ____exports.QUEUE_FULL
    end
    if queue.counts[cls] >= queue.options.class_sizes[cls] then
        return ____exports.CLASS_FULL
    end
    local slot = takeSlot(queue)
    queue.item[slot + 1] = item
    queue.class_of[slot + 1] = cls
    queue.enqueued_ms[slot + 1] = enqueued_ms
    queue.deadline_ms[slot + 1] = deadline_ms
    queue.key[slot + 1] = ____exports.keyOf(cls, enqueued_ms, queue.options.age_ms)
    queue.order[slot + 1] = queue.next_order
    queue.next_order = queue.next_order + 1
    queue.length = queue.length + 1
    local ____queue_counts_0, ____cls_1 = queue.counts, cls
    ____queue_counts_0[____cls_1] = ____queue_counts_0[____cls_1] + 1
    heapPush(queue.by_class[cls], slot)
    if deadline_ms < math_huge then
        heapPush(queue.by_deadline, slot)
    end
    return queue.use[slot + 1] * SLOT_SPAN + slot
end
--- Takes a slot's entry out, wherever it stands.
local function take(queue, slot)
    local item = queue.item[slot + 1]
    local at = queue.class_of[slot + 1] - 1
    heapRemove(queue.by_class[at + 1], slot)
    if queue.by_deadline.at[slot + 1] >= 0 then
        heapRemove(queue.by_deadline, slot)
    end
    queue.item[slot + 1] = NOTHING
    queue.use[slot + 1] = (queue.use[slot + 1] + 1) % USES
    queue.length = queue.length - 1
    local ____queue_counts_2, ____temp_3 = queue.counts, at + 1
    ____queue_counts_2[____temp_3] = ____queue_counts_2[____temp_3] - 1
    queue.free[queue.free_count + 1] = slot
    queue.free_count = queue.free_count + 1
    return item
end
--- Stands in free slots, so that they hold nothing alive and the array has no holes.
NOTHING = {}
---
-- @returns the slot that goes first; -1 = nothing waits
local function firstSlot(queue)
    local first = -1
    do
        local k = 0
        while k < ____exports.CLASS_COUNT do
            local slot = heapHead(queue.by_class[k + 1])
            if slot >= 0 and (first < 0 or goesBefore(queue, slot, first)) then
                first = slot
            end
            k = k + 1
        end
    end
    return first
end
---
-- @returns the key (see keyOf) of the entry that goes first; Infinity = nothing waits
function ____exports.headKey(queue)
    local slot = firstSlot(queue)
    return slot < 0 and math_huge or queue.key[slot + 1]
end
---
-- @returns the entry that goes first, left in its place; undefined = nothing waits
function ____exports.peek(queue)
    local slot = firstSlot(queue)
    local ____temp_4
    if slot < 0 then
        ____temp_4 = nil
    else
        ____temp_4 = queue.item[slot + 1]
    end
    return ____temp_4
end
---
-- @returns the entry that goes first, taken out; undefined = nothing waits
function ____exports.pop(queue)
    local slot = firstSlot(queue)
    local ____temp_5
    if slot < 0 then
        ____temp_5 = nil
    else
        ____temp_5 = take(queue, slot)
    end
    return ____temp_5
end
---
-- @param cls 1..5
-- @returns the class's entry that goes first, taken out; undefined = none of the class waits
function ____exports.popClass(queue, cls)
    local slot = heapHead(queue.by_class[cls])
    local ____temp_6
    if slot < 0 then
        ____temp_6 = nil
    else
        ____temp_6 = take(queue, slot)
    end
    return ____temp_6
end
---
-- @param cls 1..5; 0 = no class
-- @returns the class's entry that goes first, left in its place; undefined = none of the class waits
function ____exports.peekClass(queue, cls)
    local slot = cls > 0 and heapHead(queue.by_class[cls]) or -1
    local ____temp_7
    if slot < 0 then
        ____temp_7 = nil
    else
        ____temp_7 = queue.item[slot + 1]
    end
    return ____temp_7
end
---
-- @returns the slot of an id, or -1 when its entry has left the queue
local function slotOf(queue, id)
    if id < 0 then
        return -1
    end
    local slot = id % SLOT_SPAN
    if slot >= queue.slot_count or queue.by_class[1].at[slot + 1] < 0 then
        return -1
    end
    return queue.use[slot + 1] == (id - slot) / SLOT_SPAN and slot or -1
end
---
-- @returns whether the entry still waits
function ____exports.isQueued(queue, id)
    return slotOf(queue, id) >= 0
end
--- Takes one entry out.
-- 
-- @param id as `push` gave it
-- @returns whether it was there: false when it was popped, expired or removed before
function ____exports.remove(queue, id)
    local slot = slotOf(queue, id)
    if slot < 0 then
        return false
    end
    take(queue, slot)
    return true
end
---
-- @returns the earliest deadline; Infinity = none
function ____exports.nextDeadline(queue)
    local slot = heapHead(queue.by_deadline)
    return slot < 0 and math_huge or queue.deadline_ms[slot + 1]
end
---
-- @returns one entry whose deadline has come, taken out, the earliest first; undefined = no more
function ____exports.expire(queue, now_ms)
    local slot = heapHead(queue.by_deadline)
    local ____temp_8
    if slot >= 0 and queue.deadline_ms[slot + 1] <= now_ms then
        ____temp_8 = take(queue, slot)
    else
        ____temp_8 = nil
    end
    return ____temp_8
end
--- The line an entry stands in now: its class, less one for each `age_ms` waited.
-- 
-- @returns 1..5; 0 when it has left the queue
function ____exports.levelOf(queue, id, now_ms)
    local slot = slotOf(queue, id)
    if slot < 0 then
        return 0
    end
    local risen = math_floor((now_ms - queue.enqueued_ms[slot + 1]) / queue.options.age_ms)
    return math_max(1, queue.class_of[slot + 1] - risen)
end
return ____exports
