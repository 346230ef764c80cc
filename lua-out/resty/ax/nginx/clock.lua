local ____exports = {}
local time = require("resty.core.time")
--- Monotonic time of this machine as nginx cached it at the start of the event loop's turn, ms. The
-- same clock in every process; untouched by clock steps. Any phase.
function ____exports.nowMs()
    local now_ms = time.monotonic_msec()
    return now_ms
end
--- Unix time, seconds with ms resolution: for people to read, never to decide by. Any phase.
function ____exports.wallS()
    local now_s = ngx.now()
    return now_s
end
return ____exports
