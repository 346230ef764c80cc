local math_floor = math.floor
local ____exports = {}
function ____exports.newHeap(key, tie, at)
    return {
        slots = {},
        size = 0,
        key = key,
        tie = tie,
        at = at
    }
end
local function isBefore(heap, a, b)
    local key_a = heap.key[a + 1]
    local key_b = heap.key[b + 1]
    return key_a < key_b or key_a == key_b and heap.tie[a + 1] < heap.tie[b + 1]
end
local function siftUp(heap, slot, from)
    local slots = heap.slots
    local at = heap.at
    local hole = from
    while hole > 0 do
        local parent = math_floor((hole - 1) / 2)
        local other = slots[parent + 1]
        if not isBefore(heap, slot, other) then
            break
        end
        slots[hole + 1] = other
        at[other + 1] = hole
        hole = parent
    end
    slots[hole + 1] = slot
    at[slot + 1] = hole
end
local function siftDown(heap, slot, from)
    local slots = heap.slots
    local at = heap.at
    local size = heap.size
    local hole = from
    local child = 2 * hole + 1
    while child < size do
        if child + 1 < size and isBefore(heap, slots[child + 1 + 1], slots[child + 1]) then
            child = child + 1
        end
        local other = slots[child + 1]
        if not isBefore(heap, other, slot) then
            break
        end
        slots[hole + 1] = other
        at[other + 1] = hole
        hole = child
        child = 2 * hole + 1
    end
    slots[hole + 1] = slot
    at[slot + 1] = hole
end
---
-- @param slot in no heap; its key and tie are set, and stay while it is in
function ____exports.heapPush(heap, slot)
    heap.size = heap.size + 1
    siftUp(heap, slot, heap.size - 1)
end
---
-- @param slot in this heap
function ____exports.heapRemove(heap, slot)
    local hole = heap.at[slot + 1]
    heap.at[slot + 1] = -1
    heap.size = heap.size - 1
    if hole == heap.size then
        return
    end
    local last = heap.slots[heap.size + 1]
    if hole > 0 and isBefore(
        heap,
        last,
        heap.slots[math_floor((hole - 1) / 2) + 1]
    ) then
        siftUp(heap, last, hole)
    else
        siftDown(heap, last, hole)
    end
end
---
-- @returns the slot that goes first; -1 = empty
function ____exports.heapHead(heap)
    return heap.size > 0 and heap.slots[1] or -1
end
return ____exports
