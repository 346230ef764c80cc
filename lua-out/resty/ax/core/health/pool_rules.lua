local math_floor = math.floor
local math_max = math.max
local ____exports = {}
local ____states = require("resty.ax.core.health.states")
local isUsable = ____states.isUsable
---
-- @param sign 1 adds the node, -1 takes it out
function ____exports.count(counts, state, kept, backup, sign)
    if state == "pending" or state == "draining" or state == "offline" or state == "maintenance" then
        return
    end
    counts.total = counts.total + sign
    if not isUsable(state) then
        return
    end
    counts.usable = counts.usable + sign
    if kept then
        return
    end
    counts.good = counts.good + sign
    if backup then
        counts.good_backups = counts.good_backups + sign
    end
end
--- Whether the pool can spare one more node. At least one stays whatever its health, and no more than
-- `max_ejected_share` may be out (of small pools one, as in Envoy). Primaries with a good backup behind them may all
-- go: serving from the backup is what it is for.
-- 
-- @param max_share `max_ejected_share`, 0..1
function ____exports.mayEject(counts, max_share, is_backup)
    if max_share <= 0 or counts.usable <= 1 then
        return false
    end
    if not is_backup and counts.good_backups > 0 then
        return true
    end
    local most = math_max(
        1,
        math_floor(counts.total * max_share)
    )
    return counts.total - counts.usable + 1 <= most
end
--- Good nodes in a panic that is over: with fewer, those that are back first would have the load of all.
local PANIC_OVER = 0.5
--- Whether too few good nodes are left to carry the load: then all are used, good and bad, so that the few do not go down
-- under it (Envoy's panic threshold; the cascade of requirements: each ejection overloads the rest until none is left).
-- 
-- @param threshold share of good nodes below which it is so, 0..1; with no good node at all it always is
-- @param was whether it has been so: it goes on until half of the nodes are good
function ____exports.isPanic(counts, threshold, was)
    if counts.total == 0 then
        return false
    end
    return counts.good == 0 or counts.good / counts.total < (was and math_max(threshold, PANIC_OVER) or threshold)
end
--- Nodes of one host that are out at the same time, from which on the host itself is to blame.
____exports.HOST_SUSPECT_FROM = 2
return ____exports
