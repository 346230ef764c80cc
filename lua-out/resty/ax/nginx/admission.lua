local ____exports = {}
--- nginx's own status for "the client went away".
local CLIENT_GONE = 499
local REFUSED = 503
--- Answers 503 with the reason in a header. `error_page 503` applies. Access phase; does not return.
-- 
-- @param retry_after_s 0 = no Retry-After header
function ____exports.refuse(reason, retry_after_s)
    ngx.header["X-AX-Reject"] = reason
    if retry_after_s > 0 then
        ngx.header["Retry-After"] = tostring(retry_after_s)
    end
    ngx.exit(REFUSED)
end
--- Ends a request whose client has gone. Access phase; does not return.
function ____exports.endAborted()
    ngx.exit(CLIENT_GONE)
end
--- Has `callback` called when the client goes away while this phase's Lua runs.
-- 
-- @returns whether it will be: it takes `lua_check_client_abort on`, and no other such callback
function ____exports.onAbort(callback)
    local ok = ngx.on_abort(callback)
    return ok ~= nil
end
return ____exports
