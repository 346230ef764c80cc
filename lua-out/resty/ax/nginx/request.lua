local tonumber = tonumber
local ____exports = {}
local ffi = require("ffi")
local base = require("resty.core.base")
local cast = ffi.cast
local getRequest = base.get_request
local startTime = ngx.req.start_time
--- The address of nginx's structure for the current request, as a number: constant over retries and
-- internal redirects, reused after the request has ended. Request phases only.
function ____exports.requestKey()
    local key = tonumber(cast(
        "uintptr_t",
        getRequest()
    ))
    return key
end
--- When the current request began, seconds with ms resolution. Only for comparing: it is wall-clock time.
function ____exports.requestBorn()
    local born = startTime()
    return born
end
function ____exports.isSubrequest()
    return ngx.is_subrequest
end
--- The same for a main request and its subrequests, and different for any other request of this worker alive.
function ____exports.requestFamily()
    return ((ngx.var.connection or "") .. ":") .. (ngx.var.connection_requests or "")
end
--- A variable of the current request, or undefined when it has no value.
function ____exports.variable(name)
    return ngx.var[name]
end
--- Methods that nginx does not send again once they were sent (without proxy_next_upstream's non_idempotent).
local NOT_REPEATED = {POST = true, LOCK = true, PATCH = true}
--- Whether nginx may send the current request to another node after it failed at one.
function ____exports.isIdempotent()
    return NOT_REPEATED[ngx.req.get_method()] ~= true
end
--- Whether the current request announces that it is going to last, however well its node does: a WebSocket, or an event
-- stream. What it lasts tells nothing about the node.
function ____exports.mayLast()
    local upgrade = ngx.var.http_upgrade
    if upgrade ~= nil and upgrade ~= "" then
        return true
    end
    local found = string.find(ngx.var.http_accept or "", "text/event-stream", 1, true)
    return found ~= nil
end
--- Retry-After of the last answer of an upstream node, ms; 0 = none. A date, as RFC 9110 allows, counts as 1 s.
function ____exports.retryAfterMs()
    local value = ngx.var.upstream_http_retry_after
    if value == nil or value == "" then
        return 0
    end
    local seconds = tonumber(value)
    return seconds ~= nil and seconds > 0 and seconds < 1000000 and seconds * 1000 or 1000
end
return ____exports
