local tonumber = tonumber
local ____exports = {}
local ____tries = require("resty.ax.core.tries")
local splitTries = ____tries.splitTries
local ____request = require("resty.ax.nginx.request")
local variable = ____request.variable
--- Whether the last try before an internal redirect got an answer, not a 5xx. Access or balancer phase.
function ____exports.lastAnswered()
    local statuses = splitTries(variable("upstream_status") or "")
    do
        local k = #statuses - 1
        while k >= 0 do
            local status = tonumber(statuses[k + 1])
            if status ~= nil then
                return status < 500
            end
            k = k - 1
        end
    end
    return false
end
return ____exports
