local ____exports = {}
---
-- @returns the file's text, or undefined and the reason. init phase: it blocks.
function ____exports.readFile(path)
    local file, err = io.open(path, "rb")
    if file == nil then
        return nil, err or path .. ": cannot be opened"
    end
    local text = file:read("*a")
    file:close()
    if text == nil then
        return nil, path .. ": cannot be read"
    end
    return text, nil
end
return ____exports
