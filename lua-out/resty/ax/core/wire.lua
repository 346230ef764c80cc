local math_abs = math.abs
local math_max = math.max
local math_min = math.min
local ____exports = {}
local ____values = require("resty.ax.core.values")
local asNumber = ____values.asNumber
--- Entries of the `deltas` list past which workers drop the oldest: the collector is not reading.
____exports.DELTAS_MAX = 2048
--- `worker:<slot>` records looked at: more workers than any gateway runs, old ones during reloads included.
____exports.SLOTS_MAX = 1024
--- A worker whose record is older than this is dead: its in-flight counts no longer count.
____exports.WORKER_DEAD_MS = 1500
--- Only a request that has waited for so long is published as the oldest: most records then have none.
____exports.OLDEST_FROM_MS = 1000
---
-- @returns the key that whoever takes a trial adds: shared memory lets one succeed
function ____exports.trialKey(upstream, node, trial)
    return (((("trial:" .. upstream) .. "\n") .. node) .. "\n") .. tostring(trial)
end
--- A drain whose collector has not said so for so long is over, unless its record says that it speaks more seldom.
____exports.DRAIN_STALE_MS = 5000
--- More is never believed: six of the longest collector intervals.
local DRAIN_STALE_MOST_MS = 30000
---
-- @returns whether what the record says of a drain still holds; `now_ms` monotonic
function ____exports.isDrainFresh(record, now_ms)
    local at_ms = asNumber(record and record.at_ms)
    if at_ms == nil then
        return false
    end
    local stale_ms = math_max(
        ____exports.DRAIN_STALE_MS,
        math_min(
            DRAIN_STALE_MOST_MS,
            asNumber(record and record.stale_ms) or 0
        )
    )
    return math_abs(now_ms - at_ms) <= stale_ms
end
function ____exports.drainKey(upstream)
    return "drain:" .. upstream
end
---
-- @returns the key of what an operator wants: a JSON object with `on`, and `refuse` as of a DrainRecord
function ____exports.backlogKey(upstream)
    return "backlog:" .. upstream
end
---
-- @returns the key of a JSON object: node identity → NodeLimit
function ____exports.limitsKey(upstream)
    return "limits:" .. upstream
end
return ____exports
