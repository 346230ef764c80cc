local ____exports = {}
---
-- @returns the view of a node that has never been checked
function ____exports.newProbeView()
    return {
        verdict = "unknown",
        why = "",
        failed_in_row = 0,
        passed_in_row = 0,
        slow = false,
        slow_in_row = 0,
        signals_at_ms = 0,
        at_ms = 0,
        trial = "none"
    }
end
return ____exports
