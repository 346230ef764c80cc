local ____exports = {}
local ____classes = require("resty.ax.core.classes")
local parseClassSource = ____classes.parseClassSource
local function address()
    local bytes = ngx.var.binary_remote_addr
    return bytes
end
--- What reads the classes of an upstream's requests, made once per worker; it runs in the access and balancer
-- phases. A header is read through its variable: ngx.req.get_headers() builds a table for each request.
-- 
-- @param source the option `class_source`, valid; undefined = none
function ____exports.newClassReader(source)
    if source == nil then
        return nil
    end
    if type(source) == "function" then
        return {value = source, is_function = true, address = address}
    end
    local parsed = parseClassSource(source)
    local name = parsed and parsed.variable
    if name == nil then
        return {
            value = function() return parsed and parsed.constant end,
            is_function = false,
            address = address
        }
    end
    return {
        value = function()
            local text = ngx.var[name]
            return text
        end,
        is_function = false,
        address = address
    }
end
return ____exports
