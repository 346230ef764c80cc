local ____exports = {}
local ____in_flight = require("resty.ax.dataplane.in_flight")
local endTry = ____in_flight.endTry
local ____requests = require("resty.ax.dataplane.requests")
local closeRequest = ____requests.closeRequest
--- nginx's default proxy_read_timeout: a try without news for longer is over in all likelihood.
local LOST_AFTER_MS = 60000
--- Picks without one log() call that make its absence certain.
local PICKS_WITHOUT_LOG = 200
local function isLost(record, now_ms)
    local upstream = record.upstream
    if upstream == nil or record.waiter ~= nil or now_ms - record.start_ms < LOST_AFTER_MS then
        return false
    end
    return record.subrequest or not upstream.log_seen or upstream.logs_missed > 0
end
--- Ends the tries of requests that were lost. Timer phase, every few seconds.
function ____exports.sweep(____table, now_ms)
    if ____table.live == 0 then
        return 0
    end
    local lost = {}
    for ____, record in pairs(____table.by_key) do
        if record ~= nil and isLost(record, now_ms) then
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
function ____exports.discard(____table, record)
    if record.upstream ~= nil and not record.subrequest then
        local ____record_upstream_0, ____logs_missed_1 = record.upstream, "logs_missed"
        ____record_upstream_0[____logs_missed_1] = ____record_upstream_0[____logs_missed_1] + 1
    end
    endTry(record)
    closeRequest(____table, record)
end
---
-- @returns why nothing, or not all, is learnt of the upstream's nodes, or undefined when all is well
function ____exports.missingLog(upstream)
    local never = not upstream.log_seen and upstream.picks_total >= PICKS_WITHOUT_LOG
    if not never and upstream.logs_missed == 0 then
        return nil
    end
    return (((((("log() has not run for " .. (never and "any" or "some")) .. " of ") .. tostring(upstream.picks_total)) .. " requests to upstream ") .. ("\"" .. upstream.config.name) .. "\": ") .. "add log_by_lua_block { require(\"resty.ax\").log() } at http level, and to every server or location that has a ") .. "log_by_lua of its own; for subrequests also log_subrequest on"
end
return ____exports
