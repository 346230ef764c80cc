local ____exports = {}
--- Time constant of the way down: Finagle's default, 10 s.
local PEAK_DECAY_MS = 10000
---
-- @param elapsed_ms since the answer before, at least 0
-- @returns the new peak, ms
function ____exports.nextPeak(peak_ms, latency_ms, elapsed_ms)
    if latency_ms >= peak_ms then
        return latency_ms
    end
    return peak_ms + elapsed_ms / (elapsed_ms + PEAK_DECAY_MS) * (latency_ms - peak_ms)
end
return ____exports
