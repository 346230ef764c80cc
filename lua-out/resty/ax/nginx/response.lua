local ____exports = {}
--- Path of the current request without arguments, decoded and normalised by nginx.
function ____exports.requestPath()
    return ngx.var.uri or "/"
end
--- Whether the request's arguments have this one, with a value or without.
function ____exports.hasArgument(name)
    local at = string.find(("&" .. (ngx.var.args or "")) .. "&", ("[&]" .. name) .. "[=&]")
    return at ~= nil
end
--- The arguments of the current request, decoded; one given several times is a list of its values.
function ____exports.queryArguments()
    return ngx.req.get_uri_args()
end
--- Who the client has proved to be (auth_basic), or undefined.
function ____exports.remoteUser()
    local user = ngx.var.remote_user
    local ____temp_0
    if user == "" then
        ____temp_0 = nil
    else
        ____temp_0 = user
    end
    return ____temp_0
end
function ____exports.requestMethod()
    return ngx.req.get_method()
end
--- Answers the current request with JSON. Content phase.
function ____exports.respondJson(status, text, headers)
    ngx.status = status
    ngx.header["Content-Type"] = "application/json"
    ngx.header["Cache-Control"] = "no-store"
    for name, value in pairs(headers) do
        ngx.header[name] = value
    end
    ngx.print(text, "\n")
end
return ____exports
