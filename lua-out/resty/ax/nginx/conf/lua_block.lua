local ____exports = {}
local afterLongBracket, afterMinus, afterQuote
local ____text = require("resty.ax.nginx.conf.text")
local byteAt = ____text.byteAt
local lineAt = ____text.lineAt
function afterLongBracket(content, start, at)
    local ____, open_end = string.find(content, "^%[=*%[", at)
    if open_end == nil then
        return start + 1
    end
    local closing = ("]" .. string.rep("=", open_end - at - 1)) .. "]"
    local ____, close_end = string.find(content, closing, open_end + 1, true)
    local ____temp_0
    if close_end == nil then
        ____temp_0 = nil
    else
        ____temp_0 = close_end + 1
    end
    return ____temp_0
end
function afterMinus(content, at)
    if byteAt(content, at + 1) ~= 45 then
        return at + 1
    end
    if (string.find(content, "^%[=*%[", at + 2)) ~= nil then
        return afterLongBracket(content, at, at + 2)
    end
    local newline = string.find(content, "\n", at, true)
    return newline or #content + 1
end
function afterQuote(content, at, mark, unclosed)
    local double = mark == 34
    if at < (double and unclosed.double_to or unclosed.single_to) then
        return at + 1
    end
    local pattern = double and "[\\\n\"]" or "[\\\n']"
    local ____end = string.find(content, pattern, at + 1)
    while ____end ~= nil and byteAt(content, ____end) == 92 and string.sub(content, ____end + 1, ____end + 1) ~= "\n" do
        ____end = string.find(content, pattern, ____end + 2)
    end
    if ____end ~= nil and byteAt(content, ____end) == mark then
        return ____end + 1
    end
    if double then
        unclosed.double_to = ____end or #content + 1
    else
        unclosed.single_to = ____end or #content + 1
    end
    return at + 1
end
--- Characters that a token can start with. "]" is left out: stray "]==]" changes nothing.
local TOKEN_START = "[%[{}'\"%-]"
--- Skips a block of Lua whose "{" was just read; leaves the position behind the "}" that closes it.
-- 
-- @returns an error text with file and line, or undefined
function ____exports.skipLuaBlock(text)
    local content = text.content
    local opened = text.pos
    local unclosed = {double_to = 0, single_to = 0}
    local level = 1
    local pos = opened
    while level > 0 do
        local at = (string.find(content, TOKEN_START, pos))
        if at == nil then
            return ((text.file .. ":") .. tostring(lineAt(text, opened))) .. ": the block of Lua that opens here is not closed"
        end
        local code = byteAt(content, at)
        if code == 123 then
            level = level + 1
        elseif code == 125 then
            level = level - 1
        end
        if code == 91 then
            pos = afterLongBracket(content, at, at)
        elseif code == 45 then
            pos = afterMinus(content, at)
        elseif code == 34 or code == 39 then
            pos = afterQuote(content, at, code, unclosed)
        else
            pos = at + 1
        end
        if pos == nil then
            return ((text.file .. ":") .. tostring(lineAt(text, at))) .. ": the long bracket that opens here is not closed"
        end
    end
    text.pos = pos
    return nil
end
return ____exports
