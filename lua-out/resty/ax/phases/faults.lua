local ____exports = {}
local ____worker = require("resty.ax.dataplane.worker")
local process = ____worker.process
local ____clock = require("resty.ax.nginx.clock")
local nowMs = ____clock.nowMs
local ____log = require("resty.ax.nginx.log")
local logError = ____log.logError
local ____faults = require("resty.ax.observe.faults")
local newFaults = ____faults.newFaults
local noteFault = ____faults.noteFault
--- Counts and logs a fault of ours, in any phase, also before init_worker() has run.
function ____exports.fault(code, message, now_ms)
    if process.faults == nil then
        process.faults = newFaults(logError)
    end
    noteFault(process.faults, code, message, now_ms)
end
--- What picks report their faults to.
____exports.report = function(kind, message)
    ____exports.fault(
        kind,
        message,
        nowMs()
    )
end
--- A call names an upstream that init() does not know.
-- 
-- @param name as the user's Lua handed it over: nil, where it was to come from a variable that is empty
function ____exports.unknownUpstream(call, name, now_ms)
    local text = name == nil and call .. "(nil): the upstream's name is missing" or ((call .. "(\"") .. tostring(name)) .. "\"): no upstream of that name in the configuration of init()"
    ____exports.fault("unknown_upstream", text, now_ms)
end
return ____exports
