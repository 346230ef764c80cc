local ____exports = {}
local ____in_flight = require("resty.ax.dataplane.in_flight")
local endTry = ____in_flight.endTry
local ____log_watch = require("resty.ax.dataplane.log_watch")
local missesOften = ____log_watch.missesOften
local noteMissed = ____log_watch.noteMissed
local ____requests = require("resty.ax.dataplane.requests")
local closeRequest = ____requests.closeRequest
--- nginx's default proxy_read_timeout: a try without news for longer is over in all likelihood.
local LOST_AFTER_MS = 60000
--- A long request is no lost one: WebSockets last for hours, and after a reload all of a worker's requests may be such.
-- So main requests are given up only where log phases are known to be missing.
local function isLost(record, log_ran, now_ms)
    local upstream = record.upstream
    if upstream == nil or record.waiter ~= nil or now_ms - record.start_ms < LOST_AFTER_MS then
        return false
    end
    if record.subrequest or not log_ran then
        return true
    end
    return missesOften(upstream.logs, now_ms)
end
--- Ends the tries of requests that were lost. Timer phase, every few seconds.
-- 
-- @param log_ran whether log() has run in this worker, for any request whatsoever
function ____exports.sweep(____table, log_ran, now_ms)
    if ____table.live == 0 then
        return 0
    end
    local lost = {}
    for ____, record in pairs(____table.by_key) do
        if record ~= nil and isLost(record, log_ran, now_ms) then
            lost[#lost + 1] = record
        end
    end
    for ____, record in ipairs(lost) do
        endTry(record)
        closeRequest(____table, record)
    end
    return #lost
end
--- A main request has ended, and with it all its subrequests: nginx runs the log phase of those only with
-- `log_subrequest on`. Log phase.
function ____exports.familyOver(____table, family)
    do
        local k = ____table.subrequest_count - 1
        while k >= 0 do
            local record = ____table.subrequests[k + 1]
            if record.family == family then
                endTry(record)
                closeRequest(____table, record)
            end
            k = k - 1
        end
    end
end
--- The record's request ended long ago, without a log phase: another one is at its address.
function ____exports.discard(____table, record, now_ms)
    local upstream = record.upstream
    if upstream ~= nil and not record.subrequest then
        noteMissed(upstream.logs, now_ms)
    end
    endTry(record)
    closeRequest(____table, record)
end
return ____exports
