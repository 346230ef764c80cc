local ____exports = {}
local ffi = require("ffi")
local base = require("resty.core.base")
--- The address of nginx's structure for the current request, as a number: constant over retries and
-- internal redirects, reused after the request has ended. Request phases only.
function ____exports.requestKey()
    local key = tonumber(ffi.cast(
        "uintptr_t",
        base.get_request()
    ))
    return key
end
--- When the current request began, seconds with ms resolution. Only for comparing: it is wall-clock time.
function ____exports.requestBorn()
    local born = ngx.req.start_time()
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
return ____exports
