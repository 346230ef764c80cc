local ____exports = {}
--- Entries of the `deltas` list past which workers drop the oldest: the collector is not reading.
____exports.DELTAS_MAX = 2048
--- `worker:<slot>` records looked at: more workers than any gateway runs, old ones during reloads included.
____exports.SLOTS_MAX = 1024
--- A worker whose record is older than this is dead: its in-flight counts no longer count.
____exports.WORKER_DEAD_MS = 1500
---
-- @returns the key of a JSON object: node identity → NodeLimit
function ____exports.limitsKey(upstream)
    return "limits:" .. upstream
end
return ____exports
