local ____exports = {}
--- Writes to nginx's error log. Any phase.
function ____exports.logError(message)
    ngx.log(ngx.ERR, "lua-resty-ax: ", message)
end
function ____exports.logWarning(message)
    ngx.log(ngx.WARN, "lua-resty-ax: ", message)
end
function ____exports.logNotice(message)
    ngx.log(ngx.NOTICE, "lua-resty-ax: ", message)
end
return ____exports
