local ____exports = {}
local time = require("resty.core.time")
--- Monotonic time of this machine as nginx cached it at the start of the event loop's turn, ms. The
-- same clock in every process; untouched by clock steps. Any phase.
function ____exports.nowMs()
    local now_ms = time.monotonic_msec()
    return now_ms
end
return ____exports
