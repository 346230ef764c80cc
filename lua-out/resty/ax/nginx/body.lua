local pcall = pcall
local tonumber = tonumber
local ____exports = {}
---
-- @returns the media type in lower case without parameters: "application/json"; "" when there is none
function ____exports.contentType()
    local ____type = string.match(ngx.var.content_type or "", "^%s*([^;%s]*)")
    return string.lower(____type or "")
end
--- nginx puts a body past client_body_buffer_size into a file.
local function readSpooled(path, max_bytes)
    local file, err = io.open(path, "rb")
    if file == nil then
        return {too_large = false, err = err or path}
    end
    local text = file:read(max_bytes + 1) or ""
    file:close()
    return #text > max_bytes and ({too_large = true}) or ({text = text, too_large = false})
end
--- The body of the current request. Content phase; yields.
-- 
-- @param max_bytes a longer one is not read where its length is announced, and not kept where it is not
function ____exports.readBody(max_bytes)
    local announced = tonumber(ngx.var.content_length or "")
    if announced ~= nil and announced > max_bytes then
        return {too_large = true}
    end
    local ok, err = pcall(ngx.req.read_body)
    if not ok then
        return {
            too_large = false,
            err = tostring(err)
        }
    end
    local text = ngx.req.get_body_data()
    if text == nil then
        local path = ngx.req.get_body_file()
        return path == nil and ({text = "", too_large = false}) or readSpooled(path, max_bytes)
    end
    return #text > max_bytes and ({too_large = true}) or ({text = text, too_large = false})
end
return ____exports
