local math_min = math.min
local ____exports = {}
local ____values = require("resty.ax.core.values")
local asCount = ____values.asCount
local ____wire = require("resty.ax.core.wire")
local SLOTS_MAX = ____wire.SLOTS_MAX
local LAST_SLOT_KEY = "worker:slots"
--- A worker's record: its process, and what it has in flight.
function ____exports.workerKey(slot)
    return "worker:" .. tostring(slot)
end
--- What the API is told of a worker's queues.
function ____exports.doorKey(slot)
    return "door:" .. tostring(slot)
end
--- A worker's queue, for the other workers; slot 0: the time of the last word of any of them. The number goes before the
-- name: names may have colons in them.
function ____exports.lineKey(upstream, slot)
    return (("line:" .. tostring(slot)) .. ":") .. upstream
end
---
-- @returns the last slot that may be taken, 0 .. SLOTS_MAX
function ____exports.lastSlot(store)
    return math_min(
        SLOTS_MAX,
        asCount(store.get(LAST_SLOT_KEY))
    )
end
--- Slots up to this one are to be looked at.
function ____exports.setLastSlot(store, slot)
    store.set(LAST_SLOT_KEY, slot)
end
return ____exports
