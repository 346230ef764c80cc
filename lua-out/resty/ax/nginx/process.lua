local tonumber = tonumber
local ____exports = {}
local ffi = require("ffi")
local ____files = require("resty.ax.nginx.files")
local readFile = ____files.readFile
local EPERM = 1
ffi.cdef("int ax_kill(int pid, int sig) __asm__(\"kill\");")
--- Whether a process exists, whoever owns it. Any phase.
function ____exports.processAlive(pid)
    return ffi.C.ax_kill(pid, 0) == 0 or ffi.errno() == EPERM
end
--- Tells a process from a later one of the same pid: pid and start time (proc(5), /proc/<pid>/stat, field 22), as a
-- text; the pid alone where there is no /proc. Reads a file: timer phase, or at start.
-- 
-- @returns undefined when there is no such process
function ____exports.processIdentity(pid)
    local stat = readFile(("/proc/" .. tostring(pid)) .. "/stat")
    if stat == nil then
        return ____exports.processAlive(pid) and tostring(pid) or nil
    end
    local state, rest = string.match(stat, "^.*%) (%S+) (.*)$")
    if state == nil or state == "Z" or state == "X" then
        return nil
    end
    local field = 4
    for value in string.gmatch(rest or "", "%S+") do
        if field == 22 then
            return (tostring(pid) .. ":") .. value
        end
        field = field + 1
    end
    return tostring(pid)
end
--- Whether the process that `processIdentity` gave this text for still runs. In doubt it does: a start time that could
-- not be read, then or now (no file descriptor left, no /proc), says nothing against it. Timer phase.
function ____exports.isRunning(identity)
    local pid = string.match(identity, "^(%d+)")
    local number = tonumber(pid)
    if number == nil then
        return false
    end
    local found = ____exports.processIdentity(number)
    return found == identity or found == pid or found ~= nil and identity == pid
end
function ____exports.workerPid()
    return ngx.worker.pid()
end
--- Workers in the configuration: 1 or more.
function ____exports.workerCount()
    return ngx.worker.count()
end
return ____exports
