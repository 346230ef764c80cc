local ____exports = {}
local ____histogram = require("resty.ax.core.histogram")
local addCount = ____histogram.addCount
local bucketOf = ____histogram.bucketOf
local newCounts = ____histogram.newCounts
local ____priority = require("resty.ax.core.priority")
local LOWEST_PRIORITY = ____priority.LOWEST_PRIORITY
--- Waits are told over this time, and at least half of it.
local WAITS_HALF_MS = 30000
local function newWaits()
    local waits = {hist = {}, admitted = {}}
    do
        local k = 0
        while k < LOWEST_PRIORITY do
            waits.hist[k + 1] = newCounts()
            waits.admitted[k + 1] = 0
            k = k + 1
        end
    end
    return waits
end
function ____exports.newDoor()
    return {
        class_reader = nil,
        line = nil,
        deadline_variable = nil,
        unknown_classes = 0,
        capped_classes = 0,
        refused = {},
        sent = {},
        waits = newWaits(),
        waits_before = newWaits(),
        turned_at_ms = 0
    }
end
--- Begins a new half minute when it is time. Flush.
function ____exports.turnWaits(door, now_ms)
    local age_ms = now_ms - door.turned_at_ms
    if age_ms < WAITS_HALF_MS then
        return
    end
    door.waits_before = age_ms < 2 * WAITS_HALF_MS and door.waits or newWaits()
    door.waits = newWaits()
    door.turned_at_ms = now_ms
end
--- The request goes on, after so long in the queue.
function ____exports.noteAdmitted(door, priority, waited_ms)
    local ____door_waits_admitted_0, ____priority_1 = door.waits.admitted, priority
    ____door_waits_admitted_0[____priority_1] = ____door_waits_admitted_0[____priority_1] + 1
    addCount(
        door.waits.hist[priority],
        bucketOf(waited_ms),
        1
    )
end
function ____exports.noteRefused(door, reason)
    door.refused[reason] = (door.refused[reason] or 0) + 1
end
return ____exports
