local ____exports = {}
local cjson = require("cjson.safe")
local json = cjson.new()
json.encode_sparse_array(true)
---
-- @returns undefined when the value cannot be written as JSON
function ____exports.encode(value)
    return (json.encode(value))
end
---
-- @returns undefined and an error text when the text is not JSON
function ____exports.decode(text)
    return json.decode(text)
end
return ____exports
