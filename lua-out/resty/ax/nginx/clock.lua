local tonumber = tonumber
local ____exports = {}
local ffi = require("ffi")
local time = require("resty.core.time")
--- clock_gettime(2), under a name of our own so that another library's declaration cannot clash.
local DECLARATIONS = "\ntypedef struct { long sec; long nsec; } ax_timespec;\nint ax_clock_gettime(int, ax_timespec *) __asm__(\"clock_gettime\");\n"
ffi.cdef(DECLARATIONS)
local monotonicMs = time.monotonic_msec
local CLOCK_MONOTONIC = 1
local timespec = ffi.new("ax_timespec")
--- Monotonic time of this machine as nginx cached it at the start of the event loop's turn, ms. The
-- same clock in every process; untouched by clock steps. Any phase.
function ____exports.nowMs()
    local now_ms = monotonicMs()
    return now_ms
end
--- Unix time, seconds with ms resolution: for people to read, never to decide by. Any phase.
function ____exports.wallS()
    local now_s = ngx.now()
    return now_s
end
--- Monotonic time as it is now, not as nginx has cached it, ms with fractions: for how long something has been at work.
-- Any phase.
function ____exports.runningMs()
    ffi.C.ax_clock_gettime(CLOCK_MONOTONIC, timespec)
    local now_ms = tonumber(timespec.sec) * 1000 + tonumber(timespec.nsec) / 1000000
    return now_ms
end
return ____exports
