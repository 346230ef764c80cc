-- Lua Library inline imports
local function __TS__StringCharCodeAt(self, index)
    if index ~= index then
        index = 0
    end
    if index < 0 then
        return 0 / 0
    end
    return string.byte(self, index + 1) or 0 / 0
end
-- End of Lua Library inline imports
local ____exports = {}
--- Names end up in keys of shared memory and in metrics' labels: longer ones are a mistake.
____exports.MAX_NAME = 255
local function hasControl(text)
    do
        local i = 0
        while i < #text do
            local code = __TS__StringCharCodeAt(text, i)
            if code < 32 or code == 127 then
                return true
            end
            i = i + 1
        end
    end
    return false
end
---
-- @returns what is wrong with a name: 1..255 bytes without control characters
function ____exports.checkName(text)
    if #text == 0 then
        return ("is empty; 1.." .. tostring(____exports.MAX_NAME)) .. " characters are needed"
    end
    if #text > ____exports.MAX_NAME then
        return ((("is too long (" .. tostring(#text)) .. "); at most ") .. tostring(____exports.MAX_NAME)) .. " bytes are allowed"
    end
    return hasControl(text) and "has control characters; only printable ones are allowed" or nil
end
---
-- @returns what is wrong with a text that must not be empty: a path, a module's name
function ____exports.checkNotEmpty(text)
    if #text == 0 then
        return "is empty; leave the option out instead"
    end
    return hasControl(text) and "has control characters; only printable ones are allowed" or nil
end
return ____exports
