local ____exports = {}
local ____worker = require("resty.ax.dataplane.worker")
local process = ____worker.process
local ____clock = require("resty.ax.nginx.clock")
local nowMs = ____clock.nowMs
local ____faults = require("resty.ax.phases.faults")
local fault = ____faults.fault
local function check(name)
    local worker = process.worker
    if worker ~= nil and worker.by_name[name] == nil then
        fault(
            "unknown_upstream",
            ("access(\"" .. name) .. "\"): no such upstream in the configuration of init()",
            nowMs()
        )
    end
end
--- Admits a request to an upstream before nginx connects to it. It lets every request through and
-- reports an upstream name that is not configured; limits and hash keys hook in here.
-- 
-- access_by_lua phase; optional.
-- 
-- @param name an upstream of the configuration
function ____exports.access(name)
    local ok, err = pcall(check, name)
    if not ok then
        fault(
            "access_phase",
            tostring(err),
            nowMs()
        )
    end
end
return ____exports
