local ____exports = {}
--- Path of the current request without arguments, decoded and normalised by nginx.
function ____exports.requestPath()
    return ngx.var.uri or "/"
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
