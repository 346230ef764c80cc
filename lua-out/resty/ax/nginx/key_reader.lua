local ____exports = {}
local ____hash_key = require("resty.ax.core.config.hash_key")
local parseKeySource = ____hash_key.parseKeySource
---
-- @param source "$variable", "header:Name", …: valid
local function variableReader(source)
    local name = parseKeySource(source).variable or ""
    return function()
        local value = ngx.var[name]
        return value
    end
end
local function address()
    local bytes = ngx.var.binary_remote_addr
    return bytes
end
local function port()
    local text = ngx.var.remote_port
    return text
end
--- What reads the keys of an upstream's requests, made once per worker; it runs in the balancer phase.
-- Variables and not ngx.req.get_headers() and the like: those build a table for each request.
-- 
-- @param source the option `hash_key`, valid; undefined = none
function ____exports.newKeyReader(source)
    if source == nil then
        return {is_function = false, address = address, port = port}
    end
    local is_function = type(source) == "function"
    return {
        value = is_function and source or variableReader(source),
        is_function = is_function,
        address = address,
        port = port
    }
end
return ____exports
