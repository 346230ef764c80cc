local pcall = pcall
local ____exports = {}
local ____request_key = require("resty.ax.core.request_key")
local keyOf = ____request_key.keyOf
local ____error_text = require("resty.ax.dataplane.error_text")
local errorText = ____error_text.errorText
--- What the user's function says; "" = nothing. One that throws or answers nonsense is reported.
local function askFunction(value, upstream, report)
    local ok, answer = pcall(value)
    local kind = type(answer)
    if ok and kind == "string" then
        return answer
    end
    if ok and kind == "number" then
        return tostring(answer)
    end
    if ok and kind == "nil" then
        return ""
    end
    local said = ok and ("returned a " .. kind) .. "; a string is needed" or errorText(answer)
    report("hash_key", (("hash_key of upstream \"" .. upstream.config.name) .. "\": ") .. said)
    return ""
end
local function textOf(reader, upstream, report)
    local value = reader.value
    if value == nil then
        return ""
    end
    local text = reader.is_function and askFunction(value, upstream, report) or (value() or "")
    if text == "" then
        upstream.keyless_total = upstream.keyless_total + 1
    end
    return text
end
--- Reads what the key is made of, unless the request has one for this upstream. A request without a value
-- for `hash_key` is counted, and the client's address is its key. Balancer phase.
function ____exports.readKey(upstream, record, report)
    local reader = upstream.keys
    if reader == nil or record.key_of == upstream then
        return
    end
    local how = upstream.address_key
    local text = textOf(reader, upstream, report)
    record.key_of = upstream
    record.key_text = text
    if text == "" or how ~= nil then
        record.key_address = reader.address() or ""
    end
    if (how and how.port) == true then
        record.key_port = reader.port() or ""
    end
    record.key_unhashed = true
end
---
-- @returns the key, 0 .. 2^32-1; hashes what was read last, if that has not been done
function ____exports.requestHash(upstream, record)
    if record.key_unhashed then
        record.key_unhashed = false
        record.hash_key = keyOf(record.key_text, record.key_address, record.key_port, upstream.address_key)
    end
    return record.hash_key
end
return ____exports
