local ____exports = {}
local ____candidates = require("resty.ax.dataplane.candidates")
local rebuildCandidates = ____candidates.rebuildCandidates
--- Keeps a node out of this worker's picks for a while, ahead of the collector's ruling.
function ____exports.hold(upstream, node, until_ms)
    local is_new = upstream.held_until_ms[node + 1] == 0
    upstream.held_until_ms[node + 1] = until_ms
    if not is_new then
        return
    end
    upstream.held_count = upstream.held_count + 1
    rebuildCandidates(upstream)
end
--- The node answers after all.
function ____exports.release(upstream, node)
    if upstream.held_until_ms[node + 1] == 0 then
        return
    end
    upstream.held_until_ms[node + 1] = 0
    upstream.held_count = upstream.held_count - 1
    rebuildCandidates(upstream)
end
--- Lets go of holds that are over. Flush.
function ____exports.releaseHolds(upstream, now_ms)
    if upstream.held_count == 0 then
        return
    end
    local held = 0
    local changed = false
    do
        local node = 0
        while node < upstream.pool.n do
            if upstream.held_until_ms[node + 1] > 0 then
                if now_ms >= upstream.held_until_ms[node + 1] then
                    upstream.held_until_ms[node + 1] = 0
                    changed = true
                else
                    held = held + 1
                end
            end
            node = node + 1
        end
    end
    upstream.held_count = held
    if changed then
        rebuildCandidates(upstream)
    end
end
return ____exports
