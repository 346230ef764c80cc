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
--- Stands for an empty array until the text is written: the cjson of some systems knows no empty arrays.
local EMPTY_ARRAY = "ax:empty-array"
--- A list that `encodeDocument` writes as [] even when it is empty.
function ____exports.jsonArray(items)
    return #items == 0 and EMPTY_ARRAY or items
end
--- As `encode`, for documents with lists made by `jsonArray`.
function ____exports.encodeDocument(value)
    local text = ____exports.encode(value)
    if text == nil then
        return nil
    end
    local written = string.gsub(text, "\"\\u0001ax:empty%-array\"", "[]")
    return written
end
return ____exports
