local ____exports = {}
local ffi = require("ffi")
local EPERM = 1
ffi.cdef("int ax_kill(int pid, int sig) __asm__(\"kill\");")
--- Whether a process exists, whoever owns it. Any phase.
function ____exports.processAlive(pid)
    return ffi.C.ax_kill(pid, 0) == 0 or ffi.errno() == EPERM
end
function ____exports.workerPid()
    return ngx.worker.pid()
end
return ____exports
